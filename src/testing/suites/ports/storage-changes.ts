import { type Pet, petStatuses } from '../../../model.ts'
import { equal } from './report.ts'
import {
  add,
  addAtOnce,
  byId,
  change,
  createWithKey,
  listReturns,
  remove,
  restore,
  type Storage,
} from './storage-calls.ts'
import { raceWithChanges } from './storage-race.ts'
import { neverAgain, removeRules } from './storage-remove.ts'
import { restoreRules } from './storage-restore.ts'
import { type AddRule, AVAILABLE, RIVALS, updateRules } from './storage-update.ts'
import { REX, SOLD } from './values.ts'

type Rule = (title: string, use: (store: Storage) => unknown, needs: readonly string[]) => void

/** Adds the rules of the optional methods. A test is skipped if the storage does not have all of those that it needs. */
export function changeRules(rule: Rule): void {
  const needing =
    (method: string): AddRule =>
    (title, use) =>
      rule(title, use, [method])
  updateRules(needing('update'))
  removeRules(needing('remove'))
  restoreRules(needing('restore'))

  const both = ['update', 'remove']
  rule('an animal that is sold is not removed as available at the same time', sellOrRemove, both)
  rule('an idempotency key is found by scope and key, not by the id', keyOfReplaced, ['remove', 'restore'])
  rule('count returns how many animals there are, or have a status', counted, ['count', ...both])
  const reopened = (store: Storage) => neverAgain(store, store.reopen)
  rule('create gives no removed id again when the storage is opened again', reopened, ['remove', 'reopen'])
  rule('keeps changes when the storage is opened again', keepsChanges, [...both, 'restore', 'reopen'])
  rule('a reader skips and repeats no animal while others change', raceWithChanges, both)
}

async function sellOrRemove(store: Storage): Promise<void> {
  const pets = await add(store, ...Array(RIVALS).fill(REX))
  const sold: Pet[] = []
  const compete = async (pet: Pet, index: number) => {
    const sell = () => store.call('update', pet.id, { status: 'sold' }, AVAILABLE)
    const take = () => store.call('remove', pet.id, AVAILABLE)
    const results = await Promise.all((index % 2 ? [sell, take] : [take, sell]).map((call) => call()))
    const applied = results.filter((result) => result?.applied)
    equal('update and remove at once: how many were applied', applied.length, 1)
    if (applied[0]?.pet.status === 'sold') sold.push({ ...pet, status: 'sold' })
  }
  await Promise.all(pets.map(compete))
  await listReturns(store, { limit: 99 }, sold.sort(byId))
}

async function keyOfReplaced(store: Storage): Promise<void> {
  const first = await createWithKey(store)
  await remove(store, first)
  const replaced = { ...SOLD, id: first.id }
  await restore(store, [replaced])
  await createWithKey(store, {}, first)
  const other = await createWithKey(store, { pet: SOLD, key: 'order-2' }, undefined, first.id)
  await createWithKey(store, {}, first)
  await listReturns(store, { limit: 9 }, [replaced, other])
}

async function counted(store: Storage): Promise<void> {
  const counts = async (...expected: number[]) => {
    for (const [i, status] of [undefined, ...petStatuses].entries()) await store.returns('count', [status], expected[i])
  }
  await counts(0, 0, 0, 0)
  const [one, two, three] = (await add(store, REX, REX, SOLD)) as [Pet, Pet, Pet]
  await counts(3, 2, 0, 1)
  await change(store, one, { status: 'pending' })
  await counts(3, 1, 1, 1)
  await remove(store, two)
  await remove(store, three)
  await counts(1, 0, 1, 0)
}

async function keepsChanges(store: Storage): Promise<void> {
  const [one, two, three] = (await add(store, REX, REX, REX)) as [Pet, Pet, Pet]
  const keyed = await createWithKey(store)
  const changed = await change(store, one, { name: 'Ada', status: 'sold' })
  const changedKeyed = await change(store, keyed, { status: 'pending' })
  await remove(store, two)
  const restored = { ...SOLD, id: keyed.id + 7n }
  await restore(store, [restored])
  await store.reopen()
  await listReturns(store, { limit: 9 }, [changed, three, changedKeyed, restored])
  await listReturns(store, { limit: 9, status: 'sold' }, [changed, restored])
  await createWithKey(store, {}, keyed)
  await addAtOnce(store, [REX], restored.id)
}
