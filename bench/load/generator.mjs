// Sends requests and measures. It runs on Bun, in a process of its own, because the load must cost less than the servers.
const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')
/** After the end of a run, the longest wait for responses, in milliseconds. */
const PATIENCE = 10_000

let sockets = []
let failures = []
/** Called after each response. */
let onResponse = () => {}

/** Opens the connections to each target, and sends one request on each, so that the servers have accepted all of them. */
async function open({ targets, connections }) {
  const socket = { data: receive, close: closed, error: (_socket, error) => fail(error.message) }
  const opening = targets.flatMap(({ port, requests }) => {
    const list = requests.map(({ text, status }) => ({ bytes: Buffer.from(text), status: String(status) }))
    const source = { list, next: 0 }
    return Array.from({ length: connections }, () => {
      const data = { source, pending: undefined, expected: '', intendedAt: 0 }
      return Bun.connect({ hostname: '127.0.0.1', port, socket, data })
    })
  })
  sockets = await Promise.all(opening)
  await new Promise((resolve) => {
    let left = sockets.length
    onResponse = () => {
      if (--left === 0) resolve()
    }
    for (const one of sockets) send(one)
  })
  // The first request of a limited key is served.
  failures = []
}

function send(socket) {
  const { source } = socket.data
  const request = source.list[source.next]
  source.next = source.next + 1 === source.list.length ? 0 : source.next + 1
  socket.data.expected = request.status
  socket.write(request.bytes)
}

function receive(socket, chunk) {
  const { data } = socket
  const bytes = data.pending === undefined ? chunk : Buffer.concat([data.pending, chunk])
  const head = bytes.indexOf(HEAD_END)
  const text = head === -1 ? '' : bytes.latin1Slice(0, head)
  if (head === -1 || !isWhole(bytes, head, text)) {
    data.pending = Buffer.from(bytes)
    return
  }
  data.pending = undefined
  if (text.slice(9, 12) !== data.expected) fail(`${text.slice(0, 80)} instead of ${data.expected}`)
  onResponse(socket)
}

function isWhole(bytes, head, text) {
  const length = /\r\ncontent-length: (\d+)/i.exec(text)
  return length === null ? bytes.indexOf(LAST_CHUNK, head) !== -1 : bytes.length >= head + 4 + Number(length[1])
}

const fail = (message) => failures.push(message)
const closed = (socket) => sockets.includes(socket) && fail('the server has closed a connection')

/** Sends the next request on each connection as soon as it has its response, for `duration` milliseconds. */
async function run({ duration }) {
  let count = 0
  let left = sockets.length
  const startedAt = performance.now()
  const until = startedAt + duration
  await finished((resolve) => {
    onResponse = (socket) => {
      count++
      if (performance.now() < until) send(socket)
      else if (--left === 0) resolve()
    }
    for (const socket of sockets) send(socket)
  }, duration)
  return { count, seconds: (performance.now() - startedAt) / 1000 }
}

/**
 * Sends requests at a fixed rate. The latency counts from the time at which a request should have been sent, so a server that
 * stops for a while is charged for all requests of that while.
 */
async function pace({ rate, duration }) {
  const total = Math.floor((rate * duration) / 1000)
  const latencies = new Float64Array(total)
  const idle = [...sockets]
  let due = 0
  let count = 0
  const startedAt = performance.now()
  await finished((resolve) => {
    onResponse = (socket) => {
      latencies[count++] = performance.now() - socket.data.intendedAt
      idle.push(socket)
      if (count === total) resolve()
    }
    const tick = () => {
      const now = performance.now()
      for (let at = startedAt + (due * 1000) / rate; due < total && at <= now && idle.length > 0; ) {
        const socket = idle.pop()
        socket.data.intendedAt = at
        send(socket)
        at = startedAt + (++due * 1000) / rate
      }
      if (due < total) setImmediate(tick)
    }
    tick()
  }, duration)
  latencies.sort()
  const at = (share) => latencies[Math.min(total - 1, Math.floor(total * share))] * 1000
  return { count, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999) }
}

function finished(begin, duration) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no end: ${failures[0] ?? 'responses are missing'}`)),
      duration * 4 + PATIENCE,
    )
    begin(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function close() {
  const all = sockets
  sockets = []
  for (const socket of all) socket.end()
}

const commands = { open, run, pace, close }
process.on('message', async ({ command, ...options }) => {
  try {
    const result = await commands[command](options)
    const { length } = failures
    // A key that is limited to one request per minute is served once in each minute.
    const allowed = Math.max(1, (result?.count ?? 0) / 1000)
    if (length > allowed) throw new Error(`${length} wrong responses, such as: ${failures[0]}`)
    process.send({ result })
  } catch (error) {
    process.send({ error: error.message })
  }
})
console.log('{}')
