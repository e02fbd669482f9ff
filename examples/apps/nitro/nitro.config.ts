import { defineNitroConfig } from 'nitro/config'

export default defineNitroConfig({ compatibilityDate: '2026-11-01' })
