import json
import sys

while True:
    line = sys.stdin.readline(2048)
    if not line:
        break
    if '"type":"hello"' in line:
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif '"type":"turn"' in line:
        last = line[line.rfind('{"at"'):]
        print('{"type":"action","action":%s}}' % last.split("}")[0], flush=True)
