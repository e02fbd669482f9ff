import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startPetstore } from '../../support/petstore-command.ts'

const CONNECTIONS = 100
const PIPELINED = 20
const MEGABYTE = 1_048_576
const PATHS = ['/', '/reference', '/reference/scalar.js', '/openapi.json', '/page/live.js']

/** Opens a connection that sends requests and reads nothing. Resolves when the requests have been written. */
function flood(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause()
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const requests = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(PIPELINED)
  return new Promise((resolve) => socket.write(requests, () => resolve(socket)))
}

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024) / MEGABYTE
}

test.skipIf(process.platform !== 'linux')('unread responses do not fill the memory of the server', async () => {
  const { address, child } = await startPetstore()
  const health = new URL('/health', address)
  const before = await memoryOf(child.pid as number)
  for (const path of PATHS) {
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => flood(Number(health.port), path)))
    // This request came after the floods, so the server has handled the floods when it responds.
    expect((await fetch(health)).status).toBe(200)
    expect({ path, isBounded: (await memoryOf(child.pid as number)) - before < 100 }).toEqual({ path, isBounded: true })
    for (const socket of sockets) socket.destroy()
  }
})
