import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueue } from '../../../src/client/queue.ts'

test('a queue keeps the order of its items, whichever are removed', () => {
  const step = fc.oneof(fc.constant('add' as const), fc.constant('shift' as const), fc.nat(30))
  const law = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const queue = createQueue<string>()
    let model: [number, string][] = []
    for (const [index, action] of steps.entries()) {
      if (action === 'add') model.push([queue.add(`item ${index}`), `item ${index}`])
      else {
        const number = action === 'shift' ? (model[0]?.[0] ?? 0) : action
        expect(queue.remove(number)).toBe(model.some(([other]) => other === number))
        model = model.filter(([other]) => other !== number)
      }
      expect(queue.first()).toEqual(model[0])
      expect([...queue.entries()]).toEqual(model)
      expect(queue.size).toBe(model.length)
    }
  })
  fc.assert(law)
})
