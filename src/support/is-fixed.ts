/** Whether an object can never change: a plain one, frozen, whose members are values and not computed. */
export function isFixed(value: object): boolean {
  return (
    Object.isFrozen(value) &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(Object.getOwnPropertyDescriptors(value)).every((member) => 'value' in member)
  )
}
