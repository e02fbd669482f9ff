import { Controller, Get, Module } from '@nestjs/common'
import { backEnd } from './pet-store.js'

@Controller()
class ShopController {
  @Get()
  async page(): Promise<string> {
    const pets = await backEnd.storage.list({ limit: 3 })
    return `The shop itself has ${pets.map(({ name }) => name).join(', ')}`
  }
}

@Module({ controllers: [ShopController] })
export class ShopModule {}
