import type { Operations, Person, User } from '@plenum/protocol'
import { decideOrganization, isLive } from '../access/permissions.ts'
import { withProvider } from '../access/provider/with-provider.ts'
import { loadSubjects } from '../access/subjects.ts'
import { reply } from '../calls/answers/reply.ts'
import type { Call, SimpleHandler } from '../calls/call.ts'
import { findRemovedAt } from '../store/access/memberships.ts'
import { hasGrant, listPeople, type PeopleWindow } from '../store/users/people.ts'
import { unique } from './shared/batches.ts'
import { denied } from './shared/calling-user.ts'

type List = Operations['users']['list']

const defaultPageSize = 50
/** A page that has found too few people ends after this many steps: some users may have lost their last grant. */
const maxSteps = 5

/** Lists the people of an organization to one of them. */
export const listUsers: SimpleHandler<List> = async (call) => {
  const { input, caller, db, now, pages, services } = call
  const { organizationId } = input
  await requireBelonging(call)
  const { size, after } = pages.requested({ ...input }, defaultPageSize)
  const userIds = input.userIds && unique(input.userIds)
  const reading = services.longReads.open(caller)
  try {
    const people: Person[] = []
    let next: string | undefined = (after?.[0] ?? '') as string
    for (let step = 0; step < maxSteps && people.length < size && next !== undefined; step++) {
      const window: PeopleWindow = { userIds, after: next, limit: size - people.length, now }
      await reading.enter()
      try {
        const found = await reading.query(() => listPeople(db, caller.apiKey, organizationId, window))
        people.push(...found.people.map(present))
        next = found.last
      } finally {
        reading.leave()
      }
    }
    return reply(people, {
      extra: { nextPageToken: next === undefined ? undefined : pages.tokenAfter([next]) },
    })
  } finally {
    reading.close()
  }
}

/**
 * Only a user with a grant in an organization sees its people: everybody may comment on a public document. A backend sees all
 * of them, and a token that is limited to one document none.
 */
async function requireBelonging({ input, caller, db, now, services }: Call<List>): Promise<void> {
  const { user, apiKey } = caller
  if (!user) return
  if (user.session.isLimited) throw deniedToOrganization()
  const { organizationId } = input
  const subjects = await loadSubjects(db, caller, organizationId, [user.userId], {})
  const subject = subjects?.organization(user.userId)
  if (!subject) throw deniedToOrganization()
  if (subject.organization.disabled) throw denied('The organization is disabled.')
  const question = { userId: user.userId, organizationId, type: 'organization', id: organizationId } as const
  const isAllowed = await services.permissionProvider.check(caller, async (answers) => {
    const asked = withProvider(subject, answers, { ...question, source: 'identify' })
    return answers && decideOrganization(asked, now / 1000).allowed
  })
  if (
    isAllowed ??
    ((await hasTokenGrant()) || (await hasGrant(db, apiKey, organizationId, user.userId, now)))
  )
    return
  throw deniedToOrganization()

  async function hasTokenGrant(): Promise<boolean> {
    const granted = user?.session.resources.filter((one) => one.organizationId === organizationId) ?? []
    if (!granted.some((one) => isLive(one, now / 1000))) return false
    const removedAt = await findRemovedAt(db, apiKey, user?.userId ?? '', organizationId)
    return granted.some((one) => isLive(one, now / 1000) && one.issuedAt > removedAt)
  }
}

const deniedToOrganization = () => denied('User does not have access to organization')

const present = ({ userId, name, photoUrl, initial, color }: User): Person => ({
  userId,
  name,
  ...(typeof photoUrl === 'string' && photoUrl !== '' && { photoUrl }),
  initial,
  color,
})
