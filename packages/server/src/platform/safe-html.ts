import sanitizeHtml from 'sanitize-html'

/** Formatting, links and images as editors of comments write them. */
const rules: sanitizeHtml.IOptions = {
  allowedTags:
    'p br div span b strong i em u s sub sup mark small a img ul ol li blockquote code pre hr h1 h2 h3 h4 h5 h6 table thead tbody tr th td'.split(
      ' ',
    ),
  allowedAttributes: {
    a: ['href', 'title', 'target', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    '*': ['class', 'data-*'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  parseStyleAttributes: false,
  // Deeper elements are dropped.
  nestingLimit: 64,
  // A page that a link opens must not control the page with the comment.
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'noopener noreferrer nofollow' }) },
}

/** How many tags the HTML has, or more. The cost of `safeHtml` grows with them: 5 to 20 µs for each. */
export const countTags = (html: string): number => html.split('<').length - 1

/** Escapes a text for any place in HTML, also inside an attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Reverses `escapeHtml`. */
export const unescapeHtml = (html: string): string =>
  html.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&')

/** Removes everything from HTML of users that could run code or change the page around it. */
export const safeHtml = (html: string): string => sanitizeHtml(html, rules)

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }

/** The text of HTML, without any markup. */
export const plainText = (html: string): string =>
  sanitizeHtml(html, { allowedTags: [], allowedAttributes: {}, nestingLimit: 64 }).replaceAll(
    /&(?:lt|gt|quot|amp);/g,
    (entity) => entities[entity] as string,
  )
