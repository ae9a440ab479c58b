while read -r line; do
    case $line in
    '{"type":"hello"'*) echo '{"type":"ready","want":["actions"]}' ;;
    '{"type":"turn"'*)
        action=${line#*'"actions":['}
        echo "{\"type\":\"action\",\"action\":${action%%\}*}}}"
        ;;
    esac
done
