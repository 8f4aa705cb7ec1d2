/** Creates an element with text or children. Text of users is never HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}

/** The name of a user, with a dot in the color of the user. */
export function showName(name: string, color = ''): HTMLElement {
  const shown = element('b', { className: 'name' }, name)
  shown.style.setProperty('--color', color)
  return shown
}
