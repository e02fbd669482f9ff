export type { TrustProxy } from '../shared/client-address.ts'
export { type NodeHandlerOptions, toNodeHandler } from './handler.ts'
export { type ServeOptions, type ServingPetStore, serve } from './serve.ts'
export type { NodeHandler, NodeIncoming, NodeOutgoing } from './types.ts'
