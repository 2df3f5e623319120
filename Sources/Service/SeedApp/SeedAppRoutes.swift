import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// The shop routes of the app that Till began with, in that app's own format: the header `idtoken`, forms as bodies, statuses
/// as answers.
struct SeedAppRoutes: Sendable {
    static let sprouts = "sprout"
    static let backgrounds = "background"

    let service: EntitlementService
    let profiles: ProfileService
    private var members: SeedAppMembers { SeedAppMembers(profiles: profiles) }
    let metrics: ServiceMetrics

    /// - Parameter group: Routes under `/v1/user`.
    func add(to group: RouterGroup<ServiceContext>) {
        group.get { _, context in try await show(context) }
        let held = group.for(.app)
        held.post { request, context in try await join(request, context) }
        group.post("withdraw") { _, context in try await withdraw(context) }
        group.get("shop/myinfo") { _, context in try await show(context) }
        held.post("shop/item") { request, context in try await wear(request, context) }
        group.post("shop/ios") { request, context in try await redeem(request, context) }
    }

    /// - Throws: `SeedAppStatus`, `noMember`.
    private func member(_ user: User) async throws -> SeedAppMembers.Member {
        guard let member = try await members.member(user) else { throw SeedAppStatus.noMember }
        return member
    }

    private func show(_ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        return try JSONAnswer.response(
            SeedAppUser(try await member(user), of: user), headers: [.cacheControl: "no-store"])
    }

    private func join(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let form = try await SeedAppForm(request, context)
        let member = MemberRecord(
            phoneNumber: try form.text("phoneNumber"), email: try form.text("email"),
            fcmToken: try form.text("FCMtoken", upTo: 4096), birth: try form.text("birth"),
            gender: try form.integer("gender"), joinedAt: profiles.clock.now())
        guard let nickname = try? Nickname(try form.text("nick")) else { throw SeedAppStatus.nicknameRefused }
        let isNew = try await members.join(user, as: member, called: nickname)
        return (isNew ? SeedAppStatus.done : .refused).response
    }

    private func withdraw(_ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        _ = try await member(user)
        _ = try await service.erase(user, by: .user)
        return SeedAppStatus.done.response
    }

    private func wear(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let form = try await SeedAppForm(request, context)
        let chosen = [
            Item(collection: Self.sprouts, number: try form.integer("sesac")),
            Item(collection: Self.backgrounds, number: try form.integer("background")),
        ]
        _ = try await member(user)
        do {
            _ = try await profiles.change(.keep, chosen: chosen, of: user)
        } catch ProfileError.itemNotOwned {
            return SeedAppStatus.refused.response
        }
        return SeedAppStatus.done.response
    }

    /// Redeems all purchases of the receipt. The answer is about the product that the app has named.
    private func redeem(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let form = try await SeedAppForm(
            request, context, upTo: SeedAppForm.sizeWithReceipt)
        let (proof, product) = (try form.base64("receipt"), try form.text("product"))
        _ = try await member(user)
        do {
            let purchases = try await BlockingWork.process(proof.count) {
                try service.purchases(in: proof, of: service.apps.first.bundleIdentifier)
            }
            let answer = try await service.answer(try service.request(purchases, for: user, by: .user))
            let redemption = try service.redemption(of: purchases, answered: answer)
            metrics.countRedemption(redemption.outcome.rawValue)
            let item = service.apps.first.catalog.benefit(of: product)?.item
            let isOwned = item.map(redemption.items.contains) ?? false
            return (isOwned ? SeedAppStatus.done : .refused).response
        } catch let error as RedemptionError {
            metrics.countRedemption("refused", code: error.code)
            switch error {
            case .userUnknown: throw error
            default: break
            }
            context.notes.code = error.code
            return SeedAppStatus.refused.response
        }
    }
}
