export type { TrustProxy } from './node/client-address.ts'
export { type NodeHandlerOptions, toNodeHandler } from './node/handler.ts'
export { type ServeOptions, type ServingPetStore, serve } from './node/serve.ts'
export type { NodeHandler, NodeIncoming, NodeOutgoing } from './node/types.ts'
