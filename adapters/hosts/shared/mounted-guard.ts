import { type AdmitOptions, admitShape, type PlainAdmission } from '../../../src/admission.ts'
import type { ApiRequest, PetStore } from '../../../src/index.ts'
import { adapterFunctionsOf } from '../../../src/reports/adapter-functions.ts'
import { invalidOption, optionsOf } from '../../../src/schemas/options.ts'
import { parseOptions } from '../../../src/schemas/parse-options.ts'
import { type HandlerOptions, handlerShape, mountStore, mountWithHostSetting, noTrustProxy } from './mounted-store.ts'

/** The options of the guards for hosts without a setting of their own for proxies. */
export interface GuardOptions extends HandlerOptions, AdmitOptions {}

/** The options of the guards for hosts with a setting of their own for proxies. */
export interface HostGuardOptions extends AdmitOptions {
  /** The host has its own setting. */
  readonly trustProxy?: undefined
}

export const guardShape = { ...handlerShape, ...admitShape }
const guardOptions = optionsOf<GuardOptions>(guardShape)

/** Throws for an invalid store or option, when the guard is created and not at the first request. */
export function mountGuard(petStore: PetStore, options: GuardOptions) {
  const { trustProxy, ...admitOptions } = parseOptions(guardOptions, options)
  const { readAddress } = mountStore(petStore, { trustProxy })
  return { readAddress, admit: admitThroughStore(petStore, admitOptions) }
}

/** @param setting - how to write the setting of the host */
export function mountGuardWithHostSetting(petStore: PetStore, setting: string, options: HostGuardOptions) {
  const { readAddress } = mountWithHostSetting(petStore, setting)
  const schema = optionsOf<HostGuardOptions>({ ...admitShape, trustProxy: noTrustProxy(setting) })
  const { trustProxy, ...admitOptions } = parseOptions(schema, options)
  return { readAddress, admit: admitThroughStore(petStore, admitOptions) }
}

/** Checks and counts one request. Never rejects. */
export type AdmitRequest = (request: ApiRequest) => Promise<PlainAdmission>

function admitThroughStore(petStore: PetStore, options: AdmitOptions): AdmitRequest {
  const { admit } = adapterFunctionsOf(petStore)
  if (!admit) throw invalidOption('petStore', 'a store of createPetStore, or a copy { ...petStore }', petStore)
  return (request) => admit(request, options)
}
