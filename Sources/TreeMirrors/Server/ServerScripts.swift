/// What the server runs: each script is one step for all processes.
///
/// The keys of a mirror have one prefix, and braces that keep them on one node of a cluster:
/// - `s`: the stream of batches, whose version is the number before the dash of their ids; each has
///   a writer (`w`), its number (`n`), the mark of this append (`m`), and last its bytes (`b`);
/// - `m`: `epoch`, which names the published state for good; `v`, the version; `at`, the version of
///   the snapshot; `format`;
/// - `w`: the last number of each writer;
/// - `d`: the snapshot;
/// - `p`: the processes that were heard of lately;
/// - `u:…`: a text that arrives in pieces. A script that takes a text has it as an argument, or as
///   the text under its sixth key, and next the number of its bytes.
enum ServerScript: String, CaseIterable {
  /// Continues from a version, or names the snapshot to take; publishes a state for a new tree.
  case join = """
    local epoch, version = ARGV[2], tonumber(ARGV[3])
    if m[4] and m[4] ~= ARGV[8] then return {'format', m[4]} end
    if not m[1] then
      if epoch ~= '' then return {'lost'} end
      if ARGV[7] == '' then return {'empty'} end
      local state = KEYS[6] and (redis.call('GET', KEYS[6]) or '') or ARGV[9]
      if #state ~= tonumber(ARGV[10]) then return {'again'} end
      redis.call('DEL', KEYS[1], KEYS[3], KEYS[5])
      redis.call('SET', KEYS[4], state)
      redis.call('HSET', KEYS[2], 'epoch', ARGV[7], 'v', '0', 'at', '0', 'format', ARGV[8])
      return {'published', ARGV[7]}
    end
    local v, at = tonumber(m[2]), tonumber(m[3])
    local last = redis.call('HGET', KEYS[3], ARGV[1]) or '0'
    local function entry(n)
      local id = string.format('%d-1', n)
      return redis.call('XRANGE', KEYS[1], id, id)[1]
    end
    if m[1] == epoch and version <= v then
      local known = version > 0 and entry(version)
      local is_same = version == 0
        or known and known[2][2] == ARGV[4] and known[2][4] == ARGV[5] and known[2][6] == ARGV[6]
      if is_same and (version == v or entry(version + 1)) then
        return {'resume', m[1], v, at, last}
      end
    end
    local newest = at > 0 and entry(at)
    return {'state', m[1], v, at, last, redis.call('STRLEN', KEYS[4]),
      newest and newest[2][2] or '', newest and newest[2][4] or '0',
      newest and newest[2][6] or ''}
    """
  /// The rest of the snapshot of a version, from a byte on.
  case state = """
    if m[1] ~= ARGV[1] or m[3] ~= ARGV[2] then return false end
    return redis.call('GETRANGE', KEYS[4], ARGV[3], -1)
    """
  /// The rest of a batch, from a byte on; false if the entry has another writer, number or mark.
  case batch = """
    local id = ARGV[1] .. '-1'
    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
    if not entry or entry[2][2] ~= ARGV[2] or entry[2][4] ~= ARGV[3] or entry[2][6] ~= ARGV[4] then
      return false
    end
    return string.sub(entry[2][8], ARGV[5] + 1)
    """
  /// Appends a batch, once, in the order of its writer's numbers.
  case append = """
    if m[1] ~= ARGV[1] then return {'lost'} end
    local last = tonumber(redis.call('HGET', KEYS[3], ARGV[2]) or '0')
    local number, v = tonumber(ARGV[3]), tonumber(m[2])
    if number <= last then return {'known', v, tonumber(m[3])} end
    if number ~= last + 1 then return {'gap', last} end
    if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= v then return {'base', v} end
    local bytes = KEYS[6] and (redis.call('GET', KEYS[6]) or '') or ARGV[6]
    if #bytes ~= tonumber(ARGV[7]) then return {'again'} end
    v = v + 1
    local id = string.format('%d-1', v)
    redis.call('XADD', KEYS[1], id, 'w', ARGV[2], 'n', ARGV[3], 'm', ARGV[5], 'b', bytes)
    redis.call('HSET', KEYS[2], 'v', string.format('%d', v))
    redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
    if KEYS[6] then redis.call('DEL', KEYS[6]) end
    return {'ok', v, tonumber(m[3])}
    """
  /// Replaces the snapshot by a newer one, and trims the stream behind it.
  case snapshot = """
    local at = tonumber(ARGV[2])
    if m[1] ~= ARGV[1] then return 'lost' end
    if at <= tonumber(m[3]) or at > tonumber(m[2]) then return 'old' end
    local state = KEYS[6] and (redis.call('GET', KEYS[6]) or '') or ARGV[4]
    if #state ~= tonumber(ARGV[5]) then return 'again' end
    redis.call('SET', KEYS[4], state)
    redis.call('HSET', KEYS[2], 'at', ARGV[2])
    if KEYS[6] then redis.call('DEL', KEYS[6]) end
    local first = at - tonumber(ARGV[3])
    if first > 0 then redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%d-1', first)) end
    return 'ok'
    """
  /// Keeps a piece of a text, from a byte on, for an hour; tells the number of bytes that it has.
  case upload = """
    local place, held = tonumber(ARGV[1]), redis.call('STRLEN', KEYS[6])
    if place <= held and place + #ARGV[2] > held then
      held = redis.call('APPEND', KEYS[6], string.sub(ARGV[2], held - place + 1))
      redis.call('EXPIRE', KEYS[6], 3600)
    end
    return held
    """
  /// Tells the version, and counts the processes. A server that takes no writes still answers.
  case look = """
    local now = tonumber(redis.call('TIME')[1])
    if m[1] then
      redis.pcall('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - 10)
      redis.pcall('ZADD', KEYS[5], now, ARGV[1])
    end
    return {m[1] or '', tonumber(m[2] or '0'), redis.call('ZCARD', KEYS[5])}
    """

  /// The text that the server gets: `rawValue` after lines that set `m` to the fields `epoch`, `v`,
  /// `at` and `format`.
  ///
  /// `m[1]` is false if the server has no tree, or lacks a part of it because it has evicted keys.
  /// Mirrors cannot continue with a part: without the numbers of the writers, for example, the
  /// server would take batches twice.
  var text: String {
    """
    local m = redis.call('HMGET', KEYS[2], 'epoch', 'v', 'at', 'format')
    local count = redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4])
    -- The stream and the numbers begin with the first batch.
    if count < (m[2] == '0' and 1 or 3) then m[1] = false end

    """ + rawValue
  }
}
