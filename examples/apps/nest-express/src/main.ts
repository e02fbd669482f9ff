import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { toExpressHandler } from 'petstore-kit/express'
import { petStore } from './pet-store.js'
import { ShopModule } from './shop.module.js'

const app = await NestFactory.create(ShopModule)
// Mount the store before `listen`, which adds Nest's body parsers. As a module's middleware, the store would run after them.
app.use(toExpressHandler(petStore, { trustProxy: 1 }))
app.enableShutdownHooks()
await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
