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

# Plays a match. $1: the bot's name.
run() {
  set -E
  trap 'failed $? "$BASH_COMMAND"' ERR
  # Messages go to the copies 4 and 3. All other output goes to stderr, and nothing else can read what
  # the referee sends.
  exec 4<&0 3>&1 </dev/null >&2
  local line fields
  while IFS= read -r line <&4; do
    # These say what has changed since; the next position has it too.
    [[ $line == '{"type":"played",'* || $line != *[![:space:]]* ]] && continue
    # Every start of jq takes some milliseconds, so one call reads all fields.
    mapfile -t fields < <(jq --raw-output '
      .type, .game, .seat, (.seed | numbers // 0) % 2147483648,
      (.setup, .turn, .left_ms, .position, .actions | tojson)' <<<"$line")
    case ${fields[0]} in
      hello)
        hello=$line game=${fields[1]} seat=${fields[2]} setup=${fields[4]}
        RANDOM=${fields[3]}
        printf '{"type":"ready","name":"%s","want":["position","actions"]}\n' "$1" >&3
        ;;
      turn)
        message=$line turn=${fields[5]} left_ms=${fields[6]} action=""
        position=${fields[7]} actions=${fields[8]}
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
    esac
  done
}
