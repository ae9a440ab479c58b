# The protocol, for a bot in bash; needs jq. It knows neither rules nor boards: the referee lists the
# legal actions.
#
# Before it calls choose, these are set; all but game, seat and turn are JSON, to be read with jq:
#   hello, game, setup, seat            from the referee's hello: all of it, the game's name, such as
#                                       hex, its settings, your seat
#   message, turn, left_ms              from its turn: all of it, its number, your milliseconds left
#   position, actions                   the board, and an array of every legal action

# Leaves a number below $1 in $random; they repeat when the match is played again with the same seed.
# Don't call it as $(random_below ..): RANDOM restarts in a subshell.
random_below() {
  random=$(((RANDOM * 32768 + RANDOM) % $1))
}

# Prints what happened, and where in the bot, to stderr.
failed() {
  ((BASH_SUBSHELL == 0)) || return 0 # The shell that started it prints this.
  local status=$1 level
  printf 'the bot failed with status %s: %s\n' "$status" "$2"
  for ((level = 1; level < ${#FUNCNAME[@]}; level++)); do
    printf '  in %s, %s line %s\n' "${FUNCNAME[level]}" "${BASH_SOURCE[level]}" "${BASH_LINENO[level - 1]}"
  done
  printf 'its last message: %s\n' "$line"
} >&2

# Reads fields of a message, given as a jq filter, into the variables named after it.
read_fields() {
  local filter=$1
  shift
  # Every start of jq takes some milliseconds, so one call reads all of them.
  mapfile -t fields < <(jq --raw-output "$filter" <<<"$line")
  local index=0 name
  for name; do
    printf -v "$name" '%s' "${fields[index++]-}"
  done
}

# Plays a match. $1: the bot's name.
run() {
  set -E
  trap 'failed $? "$BASH_COMMAND"' ERR
  # Messages go to the copies 4 and 3. All other output goes to stderr, and nothing else can read what
  # the referee sends.
  exec 4<&0 3>&1 </dev/null >&2
  local line type
  while IFS= read -r line <&4; do
    [[ $line =~ [^[:space:]] ]] || continue
    read_fields '.type, (.turn | tojson)' type turn
    case $type in
      hello)
        hello=$line
        read_fields '.game, .seat, (.setup | tojson), .seed % 2147483648' game seat setup RANDOM
        printf '{"type":"ready","name":"%s","want":["position","actions"]}\n' "$1" >&3
        ;;
      turn)
        message=$line action=""
        read_fields '.left_ms, .position, .actions | tojson' left_ms position actions
        choose
        if [[ $action ]]; then
          printf '{"type":"action","turn":%s,"action":%s}\n' "$turn" "$action" >&3
        else
          printf '{"type":"resign","turn":%s}\n' "$turn" >&3
        fi
        ;;
      over)
        break
        ;;
      # played and retired say what has changed since; the next position has it too.
    esac
  done
}
