/** Maps the dotted name of every event to its grouped name. Null: the event has no grouped name (spec 24.3). */
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

/** Whether a service acts on an event, by dotted name. */
export type Triggers = Partial<Record<EventName, boolean>>
/** Whether a service acts on an event, by group and by name within the group. */
export type GroupedTriggers = {
  [G in EventGroup]?: { [N in GroupedName as N extends `${G}.${infer Name}` ? Name : never]?: boolean }
}
/** Triggers in the spellings that callers can use: dotted, grouped with a dot, or nested by group. */
export type AnyTriggers = Triggers & Partial<Record<GroupedName, boolean>> & GroupedTriggers

export const eventNames = Object.keys(groupedNames) as EventName[]

/** Changes that the event log records, but that are no trigger of any service. */
const recordedOnly = ['comment_annotation.update', 'comment_annotation.delete'] as const

/** The names of the events in the event log. */
export type RecordedName = EventName | (typeof recordedOnly)[number]
export const recordedNames: readonly RecordedName[] = [...eventNames, ...recordedOnly]

const dottedNames = new Map<string, EventName>(eventNames.map((name) => [name, name]))
for (const name of eventNames) {
  const grouped = groupedNames[name]
  if (grouped !== null) dottedNames.set(grouped, name)
}

/** Returns the event with this dotted or grouped name. No grouped name is the dotted name of another event. */
export const findEvent = (name: string): EventName | undefined => dottedNames.get(name)

/** `comment.newlyAdded` → `['comment', 'newlyAdded']`. */
export function splitGroupedName(grouped: GroupedName): [group: EventGroup, name: string] {
  const dot = grouped.indexOf('.')
  return [grouped.slice(0, dot) as EventGroup, grouped.slice(dot + 1)]
}

/** Converts triggers from any spelling to dotted names. Unknown names are left out. */
export function toDotted(triggers: AnyTriggers): Triggers {
  const flat = Object.entries(triggers).flatMap(([key, value]): [string, boolean][] =>
    typeof value === 'boolean'
      ? [[key, value]]
      : Object.entries(value).map(([name, on]): [string, boolean] => [`${key}.${name}`, on]),
  )
  return Object.fromEntries(
    flat.flatMap(([key, on]) => {
      const name = findEvent(key)
      return name === undefined ? [] : [[name, on]]
    }),
  )
}

/** Converts triggers from dotted names to groups. Events without a grouped name are left out. */
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

/** The events that a service acts on. */
export const enabledEvents = (triggers: Triggers): ReadonlySet<EventName> =>
  new Set(eventNames.filter((name) => triggers[name] === true))

const eventsIn = (...groups: EventGroup[]) =>
  eventNames.filter((name) => groups.some((group) => groupedNames[name]?.startsWith(`${group}.`)))
const suggestions: readonly EventName[] = [
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
]
const triggersOf = (names: readonly EventName[], disabled: readonly EventName[] = []): Triggers =>
  Object.fromEntries(names.map((name) => [name, !disabled.includes(name)]))

/** The triggers that each service starts with when it is first enabled (spec 24.4). */
export const defaultTriggers = {
  email: triggersOf(eventsIn('comment', 'huddle'), suggestions),
  notification: triggersOf(eventsIn('comment', 'huddle'), suggestions),
  webhook: triggersOf(eventsIn('comment', 'huddle', 'crdt', 'recorder'), [
    ...suggestions,
    ...eventsIn('crdt', 'recorder'),
  ]),
  activity: triggersOf(eventsIn('comment')),
} satisfies Record<string, Triggers>
