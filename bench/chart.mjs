import * as echarts from 'echarts'
import { OURS } from './servers.mjs'

const WIDTH = 760
const BAR = 26
const TITLE = 'CPU time per request on Node.js, in microseconds: shorter is better'

/**
 * Returns the chart of the README as SVG: the CPU time of each kind of work, one bar for each server. The colours are readable on
 * light and dark pages.
 */
export function cpuChart(results) {
  const of = results.filter(({ group, name }) => group === 'node' && !name.includes('earlier'))
  const names = [...new Set(of.map(({ name }) => name))].reverse()
  const kinds = [...new Set(of.map(({ work }) => work))]
  const height = 84 + names.length * BAR
  const width = (WIDTH - 130) / kinds.length
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  const bar = (work) => (name) => {
    const found = of.find((result) => result.work === work && result.name === name)
    const color = name === OURS ? '#0969da' : '#8b949e'
    return { value: found ? Number(found.cpu.toPrecision(3)) : null, itemStyle: { color } }
  }
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: TITLE, textStyle: { fontSize: 14 } },
    grid: kinds.map((_, i) => ({ left: 120 + i * width, width: width - 50, top: 74, bottom: 8 })),
    xAxis: kinds.map((name, gridIndex) => ({
      gridIndex,
      name,
      type: 'value',
      position: 'top',
      nameLocation: 'start',
      nameTextStyle: { align: 'left', verticalAlign: 'bottom', padding: [0, 0, 6, 0], fontWeight: 'bold' },
      axisLabel: { show: false },
      splitLine: { show: false },
    })),
    yAxis: kinds.map((_, gridIndex) => ({
      gridIndex,
      type: 'category',
      data: names,
      axisLabel: { show: gridIndex === 0 },
      axisTick: { show: false },
      axisLine: { show: false },
    })),
    series: kinds.map((work, i) => ({
      type: 'bar',
      xAxisIndex: i,
      yAxisIndex: i,
      barWidth: BAR - 8,
      data: names.map(bar(work)),
      label: { show: true, position: 'right' },
    })),
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return `${asImage(svg)}\n`
}

/** An image in a page reacts to no pointer, so the rules for that go. A reader that speaks pages gets a title. */
function asImage(svg) {
  return svg
    .replace(/<style[^>]*>[\s\S]*<\/style>\s*/, '')
    .replaceAll(/ class="[^"]*"/g, '')
    .replace(/^<svg ([^>]*)>/, `<svg role="img" $1>\n<title>${TITLE}</title>`)
}
