import { index, type RouteConfig, route } from '@react-router/dev/routes'

export default [index('routes/home.tsx'), route('v1/*', 'routes/v1.ts')] satisfies RouteConfig
