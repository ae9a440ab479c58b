-- Each game that counts, as the JSON of a record.
select json_object(
  'number', number, 'block', block, 'round', round, 'game', game, 'match_id', match_id,
  'seed', seed, 'result', result, 'reason', reason, 'scores', json(scores), 'turns', turns,
  'lag_ns', lag_ns, 'marked', json(iif(marked, 'true', 'false')), 'moves', moves,
  'transcript', transcript, 'seal', seal,
  'players', json((
    select json_group_array(player order by seat) from seats where game = games.number)),
  'places', json((
    select json_group_array(place order by seat) from seats where game = games.number)),
  'seats', json((
    select json_group_array(json_object(
      'used_ms', used_ms, 'cpu_ms', cpu_ms,
      'peak_memory_kb', peak_memory_kb, 'turns', turns, 'fault', fault,
      'fault_text', fault_text) order by seat) from seats where game = games.number)))
from games
