import Foundation
import Ledger
import Proofs
import Vocabulary

extension RedemptionDoor {
    /// A store whose purchases the service redeems: it verifies a proof by its signature, or the service asks it.
    ///
    /// The door offers a proof to its stores in their order, and the first one that knows it states its purchases. A later statement of
    /// a store (a notification, or the answer of a scheduled question) goes to the owners by `EntitlementService.outcomes(ofStated:)`.
    package protocol Store: Sendable {
        /// Looks at a proof without asking the store. A proof with a signature is believed no sooner than the signature holds.
        ///
        /// - Throws: `RedemptionError` for a proof of this store that is refused; `StorageFault`.
        func verify(_ proof: [UInt8], from presenter: Presenter) async throws -> Verification

        /// Asks the store about a purchase.
        ///
        /// - Parameter question: The one that `verify` has returned.
        /// - Throws: `RedemptionError` for a purchase that gives nothing now; a `RuledError` of the store's client, for a store that
        ///   does not know the purchase or cannot be asked now.
        func ask(_ question: Question, from presenter: Presenter) async throws -> Statement

        /// The first purchases of an authentic proof that is refused for its app or origin; none for another proof.
        func claims(ofRefused proof: [UInt8]) async -> [Claim]
    }

    /// Who presents a proof, as far as a store limits by it.
    package struct Presenter: Sendable {
        /// The bundle identifier of the only app whose proofs the caller may send; nil for all apps.
        package let app: String?
        /// The network of a stranger, against which questions to a store count; nil for another caller.
        package let network: ClientNetwork?

        package init(app: String? = nil, network: ClientNetwork? = nil) {
            (self.app, self.network) = (app, network)
        }
    }

    /// The result of a look at a proof.
    package enum Verification: Sendable {
        /// The proof has the form of another store's.
        case foreign
        /// The proof states its purchases.
        case stated(Statement)
        /// Only the store knows the purchases.
        case unstated(Question)
    }

    /// A purchase about which a store is asked, in the words of the store.
    package struct Question: Sendable {
        /// The name of the app at the store; nil for the only one.
        package let app: String?
        /// The identifier of the purchase, such as a purchase token.
        package let identifier: String

        package init(app: String?, identifier: String) {
            (self.app, self.identifier) = (app, identifier)
        }
    }

    /// The statement of a store about the purchases of a proof.
    ///
    /// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
    package final class Statement: Sendable {
        /// The claims of the purchases, which the decision takes, or a later statement states to the owners.
        package let claims: EntitlementService.VerifiedPurchases
        /// The purchases, with the ledger's identifiers.
        package let purchases: [ProvenPurchase]
        /// The proof that has stated them; nil if the store has, or the ledger.
        package let signed: VerifiedProof?
        /// The answer of Google Play; nil for another statement.
        package let googlePlay: GooglePlayStatement?
        /// The secret that stands for the purchase at the store, which the sender of the proof knows; nil for none.
        package let purchaseToken: String?
        /// The store's work once the purchases are decided.
        let finish: @Sendable () async -> Void

        package var origin: Origin { claims.origin }

        /// - Parameters:
        ///   - purchases: Nil for those of the claims.
        ///   - finish: Performs the store's work once the purchases are decided, such as the end of those that they replace. It
        ///     fails in silence: the next question of the service does it, too.
        package init(
            _ claims: EntitlementService.VerifiedPurchases, stating purchases: [ProvenPurchase]? = nil,
            signed: VerifiedProof? = nil, googlePlay: GooglePlayStatement? = nil, purchaseToken: String? = nil,
            finish: @escaping @Sendable () async -> Void = {}
        ) {
            (self.claims, self.signed, self.googlePlay) = (claims, signed, googlePlay)
            (self.purchaseToken, self.finish) = (purchaseToken, finish)
            self.purchases = purchases ?? claims.proven
        }
    }
}

extension RedemptionDoor.Store {
    /// The answer of a store whose proofs state all that there is to know.
    package func ask(
        _ question: RedemptionDoor.Question, from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Statement { throw RedemptionError.notRedeemable }

    package func claims(ofRefused proof: [UInt8]) async -> [Claim] { [] }
}

/// A purchase that a store states, in the facts of all stores.
package struct StoredPurchase: Sendable {
    package let purchase: ProvenPurchase
    /// The statement about the renewal; nil for a purchase that does not renew.
    package let renewal: StatedRenewal?
    /// The original transaction of another purchase of the same statement, whose owner has this one, too; nil if there is none.
    package let chain: String?
    /// True if the end of the paid time is not stated, so that a known one stays.
    package let keepsEnd: Bool

    package init(
        _ purchase: ProvenPurchase, renewal: StatedRenewal? = nil, chain: String? = nil, keepsEnd: Bool = false
    ) {
        (self.purchase, self.renewal, self.chain, self.keepsEnd) = (purchase, renewal, chain, keepsEnd)
    }
}

extension EntitlementService {
    /// The purchases that a store states, by the catalog of their app.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the app.
    ///   - number: The number of the question that the statement answers, later than those of earlier ones; 0 for a signed statement,
    ///     of which the date decides.
    ///   - digest: The SHA-256 of the statement.
    package func purchases(
        _ stated: [StoredPurchase], of app: String, from origin: Origin, statedAt: Timestamp, number: Int64 = 0,
        digest: [UInt8]
    ) -> VerifiedPurchases {
        let claims = ProofClaims(
            of: app, by: apps[app]?.catalog, from: origin, statedAt: statedAt, number: number, digest: digest)
        return VerifiedPurchases(
            origin: origin,
            claims: stated.map { stated in
                var renewal = stated.renewal
                renewal?.statementNumber = number
                return claims.claim(
                    stated.purchase, renewal: renewal, chain: stated.chain, keepsEnd: stated.keepsEnd)
            })
    }
}
