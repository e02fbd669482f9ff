import { isIPv6 } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { addressGroup } from '../../../src/support/ip-address.ts'

test.each([
  ['203.0.113.7', 56, '203.0.113.7'],
  ['::ffff:203.0.113.7', 56, '203.0.113.7'],
  ['::FFFF:cb00:7107', 56, '203.0.113.7'],
  ['2001:db8:1:ab12::1', 56, '2001:db8:1:ab00:0:0:0:0/56'],
  ['2001:db8:1:abff:ffff::', 56, '2001:db8:1:ab00:0:0:0:0/56'],
  ['2001:DB8:1:ab12::1', 32, '2001:db8:0:0:0:0:0:0/32'],
  ['2001:db8::1', 128, '2001:db8:0:0:0:0:0:1/128'],
  ['fe80::1%eth0', 64, 'fe80:0:0:0:0:0:0:0/64'],
  ['::ffff:0:203.0.113.7', 56, '203.0.113.7'],
  ['64:ff9b::203.0.113.7', 56, '203.0.113.7'],
  ['64:FF9B:0:0:0:0:cb00:7107', 128, '203.0.113.7'],
  ['[64:ff9b::203.0.113.7]:567', 56, '203.0.113.7'],
  ['64:ff9b:1::203.0.113.7', 56, '64:ff9b:1:0:0:0:0:0/56'],
  ['64:ff9b::1:203.0.113.7', 128, '64:ff9b:0:0:0:1:cb00:7107/128'],
  ['::203.0.113.7', 128, '0:0:0:0:0:0:cb00:7107/128'],
  ['::1', 128, '0:0:0:0:0:0:0:1/128'],
  ['::', 56, '0:0:0:0:0:0:0:0/56'],
  ['203.0.113.7:567', 56, '203.0.113.7'],
  ['[2001:db8:1:ab12::1]:567', 56, '2001:db8:1:ab00:0:0:0:0/56'],
  ['[2001:db8:1:ab12::1]', 56, '2001:db8:1:ab00:0:0:0:0/56'],
  ['[::ffff:203.0.113.7]:567', 56, '203.0.113.7'],
  ['not an address', 56, 'not an address'],
  ['1:2', 56, '1:2'],
  ['1::2::3', 56, '1::2::3'],
  ['::12345', 56, '::12345'],
])('the address %s with prefix length %i is counted as %s', (address, bits, group) => {
  expect(addressGroup(address, bits)).toBe(group)
})

test('addresses with the same prefix, in any spelling, are counted together', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(groups, groups, fc.integer({ min: 32, max: 128 }), (one, other, bits) => {
      const long = one.map((group) => group.toString(16).padStart(4, '0')).join(':')
      const { hostname } = new URL(`http://[${long}]`)
      const short = hostname.slice(1, -1)
      expect(isIPv6(short)).toBe(true)
      fc.pre(!/^(?:::ffff:|64:ff9b::)/.test(short))
      expect(addressGroup(short, bits)).toBe(addressGroup(long, bits))
      const mask = (i: number) => 0xffff >> Math.min(16, Math.max(0, bits - 16 * i))
      const neighbour = one.map((group, i) => (group & ~mask(i)) | ((other[i] as number) & mask(i)))
      const text = neighbour.map((group) => group.toString(16)).join(':')
      expect(addressGroup(text, bits)).toBe(addressGroup(long, bits))
    }),
  )
})

test('addresses are read without URL.canParse, as in jsdom 20', () => {
  const canParse = vi.spyOn(URL, 'canParse')
  onTestFinished(() => canParse.mockRestore())
  canParse.mockImplementation(() => expect.unreachable())
  expect(addressGroup('2001:db8::1', 32)).toBe('2001:db8:0:0:0:0:0:0/32')
})
