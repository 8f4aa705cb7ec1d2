/** Every event by its dotted name, with the name that grouped lists give it; null where they have none (spec 24.2, 24.3). */
export const groupedNames = {
  'comment_annotation.add': 'comment.newlyAdded',
  'comment_annotation.assign': 'comment.assigned',
  'comment_annotation.status_change': 'comment.statusChanged',
  'comment_annotation.priority_change': 'comment.priorityChanged',
  'comment_annotation.custom_list_change': 'comment.customListChanged',
  'comment_annotation.access_mode_change': 'comment.accessModeChanged',
  'comment_annotation.subscribe': 'comment.subscribed',
  'comment_annotation.unsubscribe': 'comment.unsubscribed',
  'comment_annotation.accept': 'comment.accepted',
  'comment_annotation.reject': 'comment.rejected',
  'comment_annotation.approve': 'comment.approved',
  'comment_annotation.suggestion_accept': 'comment.suggestionAccepted',
  'comment_annotation.suggestion_reject': 'comment.suggestionRejected',
  'comment.add': 'comment.added',
  'comment.update': 'comment.updated',
  'comment.delete': 'comment.deleted',
  'comment.reaction_add': 'comment.reactionAdded',
  'comment.reaction_delete': 'comment.reactionDeleted',
  'huddle.create': 'huddle.created',
  'huddle.join': 'huddle.join',
  'crdt.update_data': 'crdt.updateData',
  'recorder.done': 'recorder.done',
  'message.attempt.exhausted': null,
} as const

export type EventName = keyof typeof groupedNames
export type GroupedName = NonNullable<(typeof groupedNames)[EventName]>
export type EventGroup = GroupedName extends `${infer Group}.${string}` ? Group : never

/** Which events a service acts on, by dotted name. */
export type Triggers = Partial<Record<EventName, boolean>>
/** The same by group and name within it. */
export type GroupedTriggers = {
  [G in EventGroup]?: { [N in GroupedName as N extends `${G}.${infer Name}` ? Name : never]?: boolean }
}
/** Triggers as callers may spell them: dotted, grouped with a dot, or grouped by nesting. */
export type AnyTriggers = Triggers & Partial<Record<GroupedName, boolean>> & GroupedTriggers

export const eventNames = Object.keys(groupedNames) as EventName[]

const dottedNames = new Map<string, EventName>(eventNames.map((name) => [name, name]))
for (const name of eventNames) {
  const grouped = groupedNames[name]
  if (grouped !== null) dottedNames.set(grouped, name)
}

/** The event of a dotted or a grouped name. No grouped name is the dotted name of another event. */
export const eventNamed = (name: string): EventName | undefined => dottedNames.get(name)

/** `comment.newlyAdded` → `['comment', 'newlyAdded']`. */
export function splitGroupedName(grouped: GroupedName): [group: EventGroup, name: string] {
  const dot = grouped.indexOf('.')
  return [grouped.slice(0, dot) as EventGroup, grouped.slice(dot + 1)]
}

/** Triggers in any of their spellings as dotted ones; names of no event are left out. */
export function toDotted(triggers: AnyTriggers): Triggers {
  const flat = Object.entries(triggers).flatMap(([key, value]): [string, boolean][] =>
    typeof value === 'boolean'
      ? [[key, value]]
      : Object.entries(value).map(([name, on]): [string, boolean] => [`${key}.${name}`, on]),
  )
  return Object.fromEntries(
    flat.flatMap(([key, on]) => {
      const name = eventNamed(key)
      return name === undefined ? [] : [[name, on]]
    }),
  )
}

/** Triggers by group. Events that no group holds are left out. */
export function toGrouped(triggers: Triggers): GroupedTriggers {
  const groups = new Map<EventGroup, [string, boolean][]>()
  for (const name of eventNames) {
    const on = triggers[name]
    const grouped = groupedNames[name]
    if (on === undefined || grouped === null) continue
    const [group, inner] = splitGroupedName(grouped)
    groups.set(group, [...(groups.get(group) ?? []), [inner, on]])
  }
  return Object.fromEntries([...groups].map(([group, names]) => [group, Object.fromEntries(names)]))
}

const inGroups = (...groups: EventGroup[]) =>
  eventNames.filter((name) => groups.some((group) => groupedNames[name]?.startsWith(`${group}.`)))
const suggestions: readonly EventName[] = [
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
]
const triggers = (names: readonly EventName[], off: readonly EventName[] = []): Triggers =>
  Object.fromEntries(names.map((name) => [name, !off.includes(name)]))

/** What a service acts on when it is first switched on (spec 24.4). */
export const defaultTriggers = {
  email: triggers(inGroups('comment', 'huddle'), suggestions),
  notification: triggers(inGroups('comment', 'huddle'), suggestions),
  webhook: triggers(inGroups('comment', 'huddle', 'crdt', 'recorder'), [
    ...suggestions,
    ...inGroups('crdt', 'recorder'),
  ]),
  activity: triggers(inGroups('comment')),
} satisfies Record<string, Triggers>
