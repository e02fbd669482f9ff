import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { toFastifyPlugin } from 'petstore-kit/fastify'
import { petStore } from './pet-store.js'
import { ShopModule } from './shop.module.js'

const app = await NestFactory.create<NestFastifyApplication>(ShopModule, new FastifyAdapter())
await app.register(toFastifyPlugin, { petStore, trustProxy: 1 })
app.enableShutdownHooks()
await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
