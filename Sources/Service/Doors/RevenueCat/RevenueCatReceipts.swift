import Catalog
import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The redemption of the proofs of `POST /v1/receipts`.
///
/// With a status below 500 the SDK finishes the transaction, and the App Store never delivers it again. So such an answer
/// follows only a commit, or a refusal that no later event can change.
extension DoorServices {
    func answer(
        _ sent: ReceiptRequest,
        from caller: Caller,
        _ newcomers: NewcomerAllowance?,
        _ request: Request
    ) async throws -> Response {
        let customer = try customer(sent.user)
        let failures = try await record(sent, from: caller, newcomers)
        let services = limited(to: caller)
        return try await services.answer(
            about: customer, request, attributeErrors: failures,
            consumption: consumption(of: sent.productIdentifiers, in: caller.app))
    }

    /// For each product of an app, true if the customer can buy it again only after it is consumed.
    private func consumption(of products: [String], in app: String?) -> [ByteKey: Bool] {
        let catalog = app.flatMap { entitlements.catalogs[$0] }
        var consumption: [ByteKey: Bool] = [:]
        for product in products {
            consumption[ByteKey(product)] = catalog?.product(product).map { $0.type == .consumable }
        }
        return consumption
    }

    /// Redeems the proofs, and records the attributes.
    ///
    /// - Parameter newcomers: The caller's allowance for customers without a purchase; nil for no limit.
    /// - Returns: The attributes that are invalid.
    /// - Throws: An error that may become a status below 500 only if the SDK may finish the transaction.
    package func record(
        _ sent: ReceiptRequest,
        from caller: Caller,
        _ newcomers: NewcomerAllowance? = nil
    ) async throws -> [AttributeFailure] {
        let (services, user) = (limited(to: caller), try customer(sent.user).user)
        let (lines, types) = try await redeem(
            sent.fetchToken, for: user, from: caller, newcomers)
        var failures = sent.attributes.errors
        var known: [RedeemedTransaction] = []
        if sent.fetchToken == nil, let transaction = sent.transactionIdentifier {
            // A request without a proof is about a transaction that the customer may have redeemed.
            known = try await services.entitlements.transactions(of: user, identifiedBy: [transaction])
        }
        do {
            failures = try await sent.attributes.record(of: user, newcomers, services)
        } catch LedgerError.newcomersLimited {
            // The answer is about the proof, so attributes beside one that gives the customer nothing may be dropped.
        }
        var outcome = ReceiptOutcome()
        outcome.lines = lines
        switch sent.fetchToken {
        // The SDK finishes the transaction that it has sent, whatever product the app states beside it.
        case .transaction: outcome.transactionIdentifier = lines.first?.transactionId
        // It acknowledges a purchase with all its products.
        case .googlePlay: outcome.isOnePurchase = true
        case .appReceipt, .xcode, nil:
            outcome.lines += known.map {
                Redemption.Line(
                    transactionId: $0.transactionIdentifier, productId: $0.productIdentifier, result: .alreadyRedeemed)
            }
            outcome.productIdentifier = sent.productIdentifier
            outcome.transactionIdentifier = sent.transactionIdentifier
            outcome.types = types
        }
        // The purchase is another customer's, who has to get this transaction, too, before the SDK finishes it. Another app's may
        // have the same identifier.
        if let refused = outcome.finalRefusal {
            let purchases = try await services.entitlements.purchases(ofTransaction: refused.transactionId)
            let isRecorded = purchases.flatMap(\.transactions).contains {
                $0.transactionIdentifier.hasSameBytes(as: refused.transactionId)
            }
            guard isRecorded else { throw outcome.problem(of: refused) }
        }
        if let problem = outcome.problem { throw problem }
        return failures
    }

    /// Redeems each proof of a token. A refusal that may end comes before one that is permanent: the SDK finishes all or nothing.
    ///
    /// - Returns: The results for all transactions, and the types of their products.
    private func redeem(
        _ token: FetchToken?,
        for user: User,
        from caller: Caller,
        _ newcomers: NewcomerAllowance?
    ) async throws -> ([Redemption.Line], [ByteKey: ProductType]) {
        var lines: [Redemption.Line] = []
        var purchases: [ProvenPurchase] = []
        var refusal: RedemptionError?
        for proof in token?.proofs ?? [] {
            do {
                let presented = try await shared.door.present(
                    RedemptionRequest(
                        proof, for: user, by: caller.actor, of: caller.app, seeing: caller.limitingApp,
                        newcomers: newcomers,
                        withItems: false))
                lines += try await shared.door.redeem(presented, for: user).decision.lines
                purchases += presented.statement.purchases
            } catch let error as RedemptionError {
                if !RevenueCatErrorRule.isPermanent(error.code) { throw error }
                refusal = error
            }
        }
        if lines.isEmpty, let refusal { throw refusal }
        return (lines, types(of: lines, purchases))
    }
}

/// The answers with customer info.
extension DoorServices {
    /// Returns customer info. A customer whom the ledger does not know is answered as new, and not written down: strangers could
    /// fill the ledger.
    ///
    /// - Parameters:
    ///   - status: 201 for a customer whom this request has created.
    ///   - consumption: For each bought product at Google Play, true if the SDK is to consume it.
    ///   - isAfterWrite: True if the request has written for the customer, so that a kept answer does not hold any more.
    func answer(
        about customer: CustomerIdentifier,
        _ request: Request,
        status: HTTPResponse.Status = .ok,
        attributeErrors: [AttributeFailure] = [],
        consumption: [ByteKey: Bool] = [:],
        isAfterWrite: Bool = true
    ) async throws -> Response {
        let (info, moment) = try await shared.customerInfo.info(
            about: customer, by: entitlements, usesKept: !isAfterWrite
        ) { rights }
        return RevenueCatAnswer.response(
            info, attributeErrors: attributeErrors, consumption: consumption, for: request, at: moment,
            status: status)
    }
}

/// The outcome of a receipt request whose proofs are authentic.
///
/// A proof may contain many transactions, and the service may refuse some of them. With the status 200, the SDK finishes
/// the transaction for which it has sent the proof. The App Store never delivers a finished consumable again.
package struct ReceiptOutcome: Sendable {
    /// The results for the transactions of all proofs.
    package var lines: [Redemption.Line] = []
    package var productIdentifier: String?
    package var transactionIdentifier: String?
    /// True if the lines are of one purchase, which the SDK finishes as a whole.
    package var isOnePurchase = false
    /// The types of products by the catalog, or else by the proofs.
    package var types: [ByteKey: ProductType] = [:]

    package init() {}

    /// The answer instead of customer info; nil if the SDK may finish its transaction.
    package var problem: RevenueCatProblem? {
        guard isOnePurchase || productIdentifier != nil || transactionIdentifier != nil else {
            // A restore. The next one delivers each purchase again, except consumables.
            return lines.lazy.filter { !types.canReturn($0.productId) }.compactMap { retry(of: $0) }.first
        }
        let sent = sentLines
        if sent.isEmpty {
            if let productIdentifier, types.canReturn(productIdentifier) { return nil }
            return RevenueCatProblem(
                number: .productMissingInReceipt,
                message: "The proof does not have the purchase yet. Send a new proof.")
        }
        if let retry = sent.lazy.compactMap({ retry(of: $0) }).first { return retry }
        return finalRefusal.map { problem(of: $0, status: 409) }
    }

    /// The transaction that the SDK has sent, if its refusal is final.
    var finalRefusal: Redemption.Line? {
        let sent = sentLines
        guard !sent.contains(where: { $0.mayFinish || retry(of: $0) != nil }) else { return nil }
        return sent.first
    }

    /// - Parameter status: The status of a refusal that is final; by default, the SDK sends the transaction again.
    func problem(of line: Redemption.Line, status: Int = RevenueCatProblem.statusForRetry) -> RevenueCatProblem {
        RevenueCatProblem(
            status: status, number: RevenueCatErrorRule(code: line.result.rawValue).number,
            message: "The transaction \"\(line.transactionId)\" is refused: \(line.result.rawValue).")
    }

    /// The lines of the transaction for which the SDK has sent the proof, or of its product.
    private var sentLines: [Redemption.Line] {
        if isOnePurchase { return lines }
        if let transactionIdentifier {
            let sent = lines.filter { $0.transactionId.hasSameBytes(as: transactionIdentifier) }
            if !sent.isEmpty { return sent }
        }
        guard let productIdentifier else { return [] }
        return lines.filter { $0.productId.hasSameBytes(as: productIdentifier) }
    }

    /// The problem of a refusal that may end; nil for another result.
    private func retry(of line: Redemption.Line) -> RevenueCatProblem? {
        line.mayFinish || RevenueCatErrorRule.isPermanent(line.result.rawValue) ? nil : problem(of: line)
    }
}
