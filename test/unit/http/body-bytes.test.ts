import { expect, test } from 'vitest'
import { BodyBytes } from '../../../src/http/body-bytes.ts'

test('joins chunks in their order', () => {
  const bytes = new BodyBytes(5_000)
  const expected: number[] = []
  for (let length = 0; length < 80; length++) {
    const chunk = Uint8Array.from({ length }, (_, i) => (length + i) % 256)
    expect(bytes.add(chunk)).toBeUndefined()
    expected.push(...chunk)
  }
  expect(bytes.size).toBe(expected.length)
  expect([...bytes.all()]).toEqual(expected)
})

test('copies small chunks out of the large buffers of the host', () => {
  const bytes = new BodyBytes(100)
  const buffers = Array.from({ length: 50 }, () => new ArrayBuffer(65_536))
  for (const buffer of buffers) bytes.add(new Uint8Array(buffer, 0, 1))
  expect(bytes.all().buffer.byteLength).toBe(1_024)
  expect(buffers).not.toContain(bytes.all().buffer)
})

test('does not copy the only chunk', () => {
  const only = Uint8Array.of(1, 2)
  const bytes = new BodyBytes(2)
  bytes.add(only)
  expect(bytes.all().buffer).toBe(only.buffer)
})

test('fills its array before it takes a larger one', () => {
  const bytes = new BodyBytes(5_000)
  bytes.add(new Uint8Array(1))
  bytes.add(new Uint8Array(1))
  const { buffer } = bytes.all()
  bytes.add(new Uint8Array(buffer.byteLength - 2))
  expect(bytes.all().buffer).toBe(buffer)
  bytes.add(new Uint8Array(1))
  expect(bytes.all().buffer).not.toBe(buffer)
})

test('does not write into the first chunk, which belongs to the host', () => {
  const first = new Uint8Array(8)
  const bytes = new BodyBytes(100)
  bytes.add(first.subarray(0, 4))
  bytes.add(Uint8Array.of(1, 2))
  expect(first).toEqual(new Uint8Array(8))
})

test('refuses a body of more bytes than its limit', () => {
  const bytes = new BodyBytes(10)
  expect(bytes.add(new Uint8Array(10))).toBeUndefined()
  expect(bytes.add(new Uint8Array(1))).toBe('expected at most 10 bytes')
})

test('refuses a body of too many chunks', () => {
  const bytes = new BodyBytes(1_600)
  for (let i = 0; i < 356; i++) expect(bytes.add(Uint8Array.of(i))).toBeUndefined()
  expect(bytes.add(Uint8Array.of(1))).toBe('expected at most 356 chunks')
})
