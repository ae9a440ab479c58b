#!/usr/bin/env bash
# Plays any game: picks one of the legal actions that the referee lists. Needs jq.
set -euo pipefail

# Your rule goes here. $hello says which game this is and which seat is yours; in $turn, .position
# is the board, and .actions has everything that is legal now: leave one of them in $action. Don't
# call this as $(choose): RANDOM restarts in a subshell.
choose() {
  local draw=$((RANDOM * 32768 + RANDOM))
  action=$(jq --compact-output ".actions[$draw % (.actions | length)]" <<<"$turn")
}

# Each printf writes one line at once. Nothing else may go to stdout: debug with echo .. >&2
while IFS= read -r line; do
  # Every start of jq takes some milliseconds, so one call reads both.
  read -r type number <<<"$(jq --raw-output '"\(.type) \(.turn)"' <<<"$line")"
  case $type in
    hello)
      hello=$line
      RANDOM=$(jq '.seed % 2147483648' <<<"$hello")
      printf '{"type":"ready","name":"random (shell)","want":["position","actions"]}\n'
      ;;
    turn)
      turn=$line
      choose
      printf '{"type":"action","turn":%s,"action":%s}\n' "$number" "$action"
      ;;
    over)
      break
      ;;
    # "played" and "retired" report what the others did, for a rule that keeps a board.
  esac
done
