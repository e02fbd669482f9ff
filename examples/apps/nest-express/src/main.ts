import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { toExpressHandler } from 'petstore-kit/express'
import { petStore } from './pet-store.js'
import { ShopModule } from './shop.module.js'

const app = await NestFactory.create(ShopModule)
// Before `listen`, which adds Nest's body parsers. As a middleware of a module, the store would run behind them.
app.use(toExpressHandler(petStore, { trustProxy: 1 }))
app.enableShutdownHooks()
await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
