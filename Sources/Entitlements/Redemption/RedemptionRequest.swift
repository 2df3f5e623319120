import Ledger
import Proofs

/// A request to redeem a proof: the proof, its presenter, and what the service writes besides the purchases.
///
/// A class: Swift 6.3.1 crashes while it compiles a closure that keeps a copy as wide as these parts while it waits.
package final class RedemptionRequest: Sendable {
    /// An app receipt in base64 or DER, a signed transaction, a signed purchase or a purchase token of Google Play, or the proof of
    /// another store of the door.
    package let proof: [UInt8]
    /// Nil if only the proof can tell the user.
    package let user: User?
    package let actor: AuditActor
    /// The bundle identifier of the only app whose proofs the caller may send; nil for all apps.
    package let app: String?
    /// The bundle identifier of the only app that the caller sees; nil for all apps.
    package let limitingApp: String?
    /// The client network against which questions to a store count; nil for a back end.
    package let network: ClientNetwork?
    /// The caller's allowance for users without a purchase; nil for no limit. Beyond it, a refusal is not recorded.
    package let newcomers: NewcomerAllowance?
    package let keeping: Keeping?
    /// False if only the results are used.
    let withItems: Bool
    let refusals: Refusals

    /// The idempotency key of a request, with the answer to keep under it for 24 hours.
    package typealias Keeping = (key: IdempotencyKey, answer: @Sendable (Redemption) throws -> KeptAnswer)

    /// The fate of a refusal.
    package enum Refusals: Sendable {
        /// It is counted, and that of an authentic proof is recorded for the user.
        case recorded
        case counted
        /// Nobody redeems: the caller asks for the state of a purchase.
        case ignored
    }

    package init(
        _ proof: [UInt8], for user: User?, by actor: AuditActor, of app: String? = nil,
        seeing limitingApp: String? = nil,
        at network: ClientNetwork? = nil, newcomers: NewcomerAllowance? = nil, keeping: Keeping? = nil,
        withItems: Bool = true, refusals: Refusals = .recorded
    ) {
        (self.proof, self.user, self.actor) = (proof, user, actor)
        (self.app, self.limitingApp) = (limitingApp ?? app, limitingApp)
        (self.network, self.newcomers, self.keeping) = (network ?? newcomers?.network, newcomers, keeping)
        (self.withItems, self.refusals) = (withItems, refusals)
    }

    var presenter: RedemptionDoor.Presenter { .init(app: app, network: network) }
}

/// A proof with the statement of its store, before its redemption.
package final class PresentedProof: Sendable {
    package let request: RedemptionRequest
    package let statement: RedemptionDoor.Statement

    init(_ request: RedemptionRequest, _ statement: RedemptionDoor.Statement) {
        (self.request, self.statement) = (request, statement)
    }
}
