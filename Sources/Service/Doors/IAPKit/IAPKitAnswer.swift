import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

package struct IAPKitAnswer: Hashable, Sendable {
    /// The store of a proof, by the protocol's name.
    package enum Store: String, CaseIterable, Sendable {
        case apple, google
    }

    package var store = Store.apple
    package let state: IAPKitState
    /// The product; nil for a proof that the App Store has not signed, and for a purchase that is not paid.
    package var productIdentifier: String?
    package var environment: AppStoreEnvironment?

    /// The answer for a proof that the App Store has not signed.
    package static let unsigned = IAPKitAnswer(state: .inauthentic)
}

extension IAPKitAnswer {
    /// - Parameters:
    ///   - statement: The statement of Google Play; nil for a proof of the App Store, and for a purchase that Google Play has forgotten and
    ///     the ledger has.
    ///   - expected: The product that the app expects; nil for any.
    package init(
        _ purchase: VerifiedPurchase,
        from store: Store,
        statedBy statement: GooglePlayStatement? = nil,
        expecting expected: String?,
        at moment: Timestamp
    ) {
        let isExpected = expected?.hasSameBytes(as: purchase.productIdentifier) ?? true
        self.init(
            store: store,
            state: isExpected ? IAPKitState(of: purchase, statedBy: statement, at: moment) : .inauthentic,
            productIdentifier: purchase.productIdentifier, environment: purchase.environment)
    }

    /// True if the refusal means that the App Store has not signed the proof. Other refusals are errors: after a correction of
    /// the settings or at a later time, a genuine proof may pass.
    package static func isUnsigned(_ reason: ProofRefusal.Reason) -> Bool {
        switch reason {
        case .containerInvalid, .tooManyCertificates, .algorithmNotAllowed, .signerCertificateMissing, .chainShape,
            .appleExtensionMissing, .staticTestPurchase, .signatureInvalid:
            true
        case .tooLarge, .encodingInvalid, .chainUntrusted, .chainOutsideValidity, .payloadInvalid, .tooManyPurchases,
            .innerProofInvalid, .appKeyMissing, .serviceAccountMissing, .purchaseFormRetired, .purchasePending,
            .purchaseKindUnsupported, .signedInFuture, .deviceMismatch, .bundleIdentifierMismatch, .environmentMismatch,
            .originNotAccepted, .purchaseConsumed, .certificateRevoked, .revocationUnavailable:
            false
        }
    }

    package var json: JSONValue {
        // Some clients refuse an answer with another environment.
        let isNamed = environment == .production || environment == .sandbox
        return .object([
            "store": .string(store.rawValue), "isValid": .bool(state.isValid), "state": .string(state.rawValue),
            "productId": productIdentifier.map { .string($0) },
            "environment": isNamed ? environment.map { .string($0.rawValue) } : nil,
        ])
    }
}

/// The state of a purchase in the protocol of IAPKit.
package enum IAPKitState: String, CaseIterable, Sendable {
    case entitled = "ENTITLED"
    /// A purchase of Google Play that no user has redeemed, and that nobody has acknowledged.
    case pendingAcknowledgment = "PENDING_ACKNOWLEDGMENT"
    /// A purchase of Google Play that is not paid, or a subscription that is paused or on hold.
    case pending = "PENDING"
    /// A consumable that no user has redeemed.
    case readyToConsume = "READY_TO_CONSUME"
    /// A consumable that a user has redeemed. The app must not give it again.
    case consumed = "CONSUMED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    /// A purchase of Google Play in a state that Till does not know, or that Google Play has ended.
    case unknown = "UNKNOWN"
    /// Not signed by the App Store, or another product than the expected one or the one in the ledger.
    case inauthentic = "INAUTHENTIC"

    /// True if the app may give what was bought.
    package var isValid: Bool { [.entitled, .pendingAcknowledgment, .readyToConsume].contains(self) }

    /// - Parameter statement: The statement of Google Play; nil without one.
    package init(of purchase: VerifiedPurchase, statedBy statement: GooglePlayStatement? = nil, at moment: Timestamp) {
        if purchase.isConflicting {
            self = .inauthentic
        } else if purchase.isRevoked {
            self = .canceled
        } else if purchase.type == .consumable {
            self = purchase.isRedeemed ? .consumed : .readyToConsume
        } else if let end = purchase.expiresAt, end <= moment {
            // The ledger may know a later period.
            self = purchase.isOwned ? .entitled : .expired
        } else {
            self = .entitled
        }
        guard let statement else { return }
        let isConsumed = statement.purchases.contains { stated in
            stated.isConsumed && stated.purchase.productIdentifier.hasSameBytes(as: purchase.productIdentifier)
        }
        switch self {
        case .expired where [.onHold, .paused].contains(statement.state): self = .pending
        case .readyToConsume where isConsumed: self = .consumed
        // The service acknowledges what a user has redeemed.
        case .entitled where !statement.isAcknowledged && !purchase.isRedeemed: self = .pendingAcknowledgment
        default: break
        }
    }

    /// - Parameter state: The state of a purchase that nobody owns; nil if it is not recorded.
    init(ofNotOwned state: String?) {
        self =
            switch state.flatMap(GooglePlayState.init) {
            case .paymentCanceled, .voided: .canceled
            case .expired: .expired
            case .unknown, nil: .unknown
            // A plan that begins when another one ends.
            default: .pending
            }
    }
}

/// An error of Till in the form of IAPKit. Its code is Till's, which `/errors` explains.
struct IAPKitProblem: DoorProblem {
    /// The statuses of the protocol's errors. Another error of the client has the status 400.
    private static let statuses: Set<Int> = [400, 401, 403, 413, 429]

    let problem: Problem
    /// The name of the wrong field; nil if the error is about no field.
    var path: String?
    /// True if the operator or time can end the refusal of the proof.
    var isTemporary = false

    var status: Int {
        if isTemporary, problem.status < 500 { return 503 }
        return problem.status >= 500 || Self.statuses.contains(problem.status) ? problem.status : 400
    }

    var code: String? { problem.code }

    func response() -> Response {
        let error = JSONValue.object([
            "code": .string(problem.code), "message": .string(problem.detail), "path": path.map { .string($0) },
        ])
        var headers = problem.headers
        headers[.contentType] = nil
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(.object(["errors": .array([error])])), status: HTTPResponse.Status(code: status),
            headers: headers)
    }
}
