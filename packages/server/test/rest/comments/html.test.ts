import { describe, expect, test } from 'vitest'
import { useServer } from '../../support/harness.ts'
import { ada, commentCalls, ref } from './calls.ts'

/** Attacks of known kinds: tags, attributes, schemes, broken markup, foreign content, and what browsers repair. */
const attacks = [
  '<script>alert(1)</script>',
  '<ScRiPt src=//evil.example/x.js></sCrIpT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  '<img/src="x"/onerror=alert(1)>',
  '<img src=x onerror\n=alert(1)>',
  '<p onclick="alert(1)">x</p>',
  '<svg onload=alert(1)><g/onload=alert(1)></svg>',
  '<svg><script>alert(1)</script></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="JaVaScRiPt:alert(1)">x</a>',
  '<a href="java\tscript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href=" &#14;  javascript:alert(1)">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<img src="javascript:alert(1)">',
  '<img srcset="x 1x, javascript:alert(1) 2x">',
  '<a href="//evil.example">x</a>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object><embed src="javascript:alert(1)">',
  '<style>body{background:url(javascript:alert(1))}</style>',
  '<p style="background:url(javascript:alert(1))">x</p>',
  '<link rel=stylesheet href="javascript:alert(1)"><meta http-equiv=refresh content="0;javascript:alert(1)">',
  '<base href="javascript:alert(1)//">',
  '<form action="javascript:alert(1)"><button formaction="javascript:alert(1)">x</button></form>',
  '<input autofocus onfocus=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<video><source onerror=alert(1)></video><audio src=x onerror=alert(1)>',
  '<textarea><img src=x onerror=alert(1)></textarea>',
  '<title><img src=x onerror=alert(1)></title>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<p title="\'"><img src=x onerror=alert(1)>',
  '<a title="x" onmouseover="alert(1)" href="#">x</a>',
  '"><script>alert(1)</script>',
  '<template><script>alert(1)</script></template>',
  '<table background="javascript:alert(1)"><td background="javascript:alert(1)">x</table>',
  '<a href="http://x" target="_blank" rel="opener">x</a>',
  '<<img src=x onerror=alert(1)>>',
  '<img src=x onerror="alert(1)"',
]

/** The tags of sanitized HTML, in which attributes are quoted and `<` and `>` are escaped everywhere else. */
const tagsOf = (html: string) => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
const allowedTags = new Set(
  'p br div span b strong i em u s sub sup mark small a img ul ol li blockquote code pre hr'.split(' '),
)
const isHarmless = (tag: string) => {
  const [, name = ''] = /^<\/?([a-z0-9]+)/.exec(tag) ?? []
  const attributes = [...tag.matchAll(/\s([a-z-]+)="([^"]*)"/g)]
  const bare = tag.replaceAll(/\s[a-z-]+="[^"]*"/g, '')
  return (
    (allowedTags.has(name) || /^(h[1-6]|table|thead|tbody|tr|th|td)$/.test(name)) &&
    /^<\/?[a-z0-9]+ ?\/?>$/.test(bare) &&
    attributes.every(([, key = '', value = '']) =>
      key === 'href' || key === 'src'
        ? /^(https?:|mailto:|[^:]*$)/.test(value) && !value.startsWith('//')
        : /^(class|title|target|rel|alt|width|height|data-[a-z-]+)$/.test(key),
    )
  )
}

describe('HTML of comments', () => {
  const server = useServer('sqlite')
  const { tenantWithDocument } = commentCalls(server)

  test('[19.0.2] HTML is stored without anything that runs code, and with its formatting', async () => {
    const { client, add, comments, reply } = await tenantWithDocument()
    await add('a1')
    await reply('a1', ...attacks.map((attack) => ({ from: ada, commentHtml: `<p>text</p>${attack}` })))
    const [, ...read] = await comments('a1')
    expect(read).toHaveLength(attacks.length)
    for (const [index, { commentHtml = '' }] of read.entries()) {
      expect(
        tagsOf(commentHtml).filter((tag) => !isHarmless(tag)),
        attacks[index],
      ).toEqual([])
    }
    // What is written back is stored as it is.
    for (const { commentId, commentHtml = '' } of read) {
      const commentIds = [commentId]
      await client.comments.update({ ...ref, annotationId: 'a1', commentIds, updatedData: { commentHtml } })
    }
    const [, ...again] = await comments('a1')
    expect(again.map(({ commentHtml }) => commentHtml)).toEqual(read.map(({ commentHtml }) => commentHtml))
    const [first] = read
    const html =
      '<h2>Title</h2><p class="x">a <strong>b</strong> <a href="https://x.example/?a=1&amp;b=2">c</a></p><img src="http://x.example/y.png" alt="z" />'
    const update = { ...ref, annotationId: 'a1', commentIds: [first?.commentId ?? 0] }
    await client.comments.update({ ...update, updatedData: { commentHtml: html } })
    const withRel = html.replace('<a href', '<a rel="noopener noreferrer nofollow" href')
    const [, changed] = await comments('a1')
    expect([
      html,
      withRel,
      withRel.replace(
        '<a rel="noopener noreferrer nofollow" href="https://x.example/?a=1&amp;b=2"',
        '<a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow"',
      ),
    ]).toContain(changed?.commentHtml)
    expect(changed?.commentHtml).toContain('rel="noopener noreferrer nofollow"')
    await client.comments.update({ ...update, updatedData: { commentHtml: attacks[3] + html } })
    expect((await comments('a1'))[1]?.commentHtml).not.toContain('onerror')
  })

  test('[19.0.2] [19.3.3] a user id that looks like HTML stays text when it replaces a mention', async () => {
    const { client, add, comments } = await tenantWithDocument()
    const commentHtml = '<p data-id="{{ada}}">{{ada}}</p>'
    await add('a1', { commentData: [{ from: ada, commentHtml }] })
    const userId = '"><img src=x onerror=alert(1)>'
    const replace = (oldId: string, newId: string) =>
      client.commentAnnotations.update({
        ...ref,
        updateUsers: [{ oldUser: { userId: oldId }, newUser: { userId: newId } }],
      })
    await replace('ada', userId)
    const [hostile] = await comments('a1')
    expect(tagsOf(hostile?.commentHtml ?? '').filter((tag) => !isHarmless(tag))).toEqual([])
    expect(hostile?.to.map((user) => user.userId)).toEqual([userId])
    await replace(userId, 'ada')
    expect(await comments('a1')).toMatchObject([{ commentHtml, to: [{ userId: 'ada' }] }])
  })
})
