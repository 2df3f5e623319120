import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The route that `verifyPurchaseWithProvider` of react-native-iap and expo-iap asks.
///
/// The protocol names no user. So the route verifies a proof, or asks Google Play, tells the state of the purchase, and redeems
/// nothing.
struct IAPKitRoutes: RouteSource {
    static let path = "v1/purchase/verify"

    let services: DoorServices

    var pathMiddleware: [PathMiddleware.Entry] { [(.post, Self.path, IAPKitErrorMiddleware())] }

    func add(to router: Router<ServiceContext>) {
        let group = services.recognised(router.group().add(middleware: IAPKitErrorMiddleware()))
        let asking = group.for(.backEndOrPublicApp(.read), isPerApp: true, usesReserve: true)
        asking.post(RouterPath(Self.path)) { request, context in
            let body = try await RequestBytes.collect(request, context, upTo: IAPKitRequest.maximumBodySize)
            let sent = try IAPKitRequest(body)
            let answer = try await answer(
                to: sent, from: try context.requiredCaller, at: context.appNetwork(of: request))
            return JSONAnswer.response(bytes: JSONAnswer.encode(answer.json))
        }
    }

    /// - Parameter network: The client network of a stranger; nil for a back end.
    private func answer(
        to sent: IAPKitRequest, from caller: Caller, at network: ClientNetwork?
    ) async throws -> IAPKitAnswer {
        do {
            switch sent.proof {
            case .transaction(let proof):
                return try await answer(to: proof, expecting: sent.expectedProductIdentifier, from: caller)
            case .purchaseToken(let token):
                return try await answer(
                    about: token, expecting: sent.expectedProductIdentifier, from: caller, at: network)
            }
        } catch let error as any RuledError where error is RedemptionError || error is PlayDeveloperError {
            throw IAPKitProblem(
                problem: Problem(error.rule), path: sent.proof.member,
                // Only a refusal that no later event can change is an error of the client.
                isTemporary: !RevenueCatErrorRule.isPermanent(error.rule.code))
        }
    }

    private func answer(
        to proof: [UInt8],
        expecting product: String?,
        from caller: Caller
    ) async throws -> IAPKitAnswer {
        let service = services.limited(to: caller).entitlements
        do {
            let statement = try await state(of: proof, from: caller)
            let purchase = try await service.purchase(in: statement, of: product)
            let moment = statement.purchases.first.map { service.now(ofBuyerOf: $0.transactionIdentifier) }
            return IAPKitAnswer(purchase, from: .apple, expecting: product, at: moment ?? service.clock.now())
        } catch RedemptionError.refused(let refusal) where IAPKitAnswer.isUnsigned(refusal.reason) {
            return .unsigned
        }
    }

    /// The statement of a store about a purchase, which nobody redeems.
    private func state(
        of proof: [UInt8], from caller: Caller, at network: ClientNetwork? = nil
    ) async throws -> RedemptionDoor.Statement {
        try await services.shared.door.present(
            RedemptionRequest(
                proof, for: nil, by: caller.actor, of: caller.app, seeing: caller.limitingApp, at: network,
                refusals: .ignored)
        ).statement
    }

    /// The state of a purchase, as Google Play states it now.
    private func answer(
        about token: GooglePlayToken,
        expecting product: String?,
        from caller: Caller,
        at network: ClientNetwork?
    ) async throws -> IAPKitAnswer {
        let service = services.limited(to: caller).entitlements
        do {
            let statement = try await state(of: token.json.compactBytes, from: caller, at: network)
            let purchase = try await service.purchase(in: statement, of: product)
            return IAPKitAnswer(
                purchase, from: .google, statedBy: statement.googlePlay, expecting: product, at: service.clock.now())
        } catch RedemptionError.refused(let refusal) where refusal.reason == .purchasePending {
            return IAPKitAnswer(store: .google, state: .pending)
        } catch RedemptionError.refused(let refusal) where refusal.reason == .purchaseConsumed {
            return IAPKitAnswer(store: .google, state: .consumed)
        } catch RedemptionError.purchaseNotOwned {
            let app = try services.shared.stores.googlePlay.app(named: token.packageName, among: caller.app)
            let state = try await app.purchases.purchase(of: token.purchaseToken)?.state
            return IAPKitAnswer(store: .google, state: IAPKitState(ofNotOwned: state))
        } catch PlayDeveloperError.tokenEnded {
            return IAPKitAnswer(store: .google, state: .unknown)
        }
    }
}

/// The body of `POST /v1/purchase/verify`. Unknown members are ignored, because newer clients send more.
struct IAPKitRequest: Hashable, Sendable {
    /// The maximum size of a body in bytes.
    static let maximumBodySize = 32 * 1024
    /// The maximum size of a signed transaction in bytes. Apple's has about 5 KB.
    static let maximumProofSize = 16 * 1024

    enum Proof: Hashable, Sendable {
        /// The signed transaction (JWS) of the App Store.
        case transaction([UInt8])
        case purchaseToken(GooglePlayToken)

        /// The field that contains the proof.
        var member: String {
            switch self {
            case .transaction: "jws"
            case .purchaseToken: "purchaseToken"
            }
        }
    }

    let proof: Proof
    /// The product that the app expects; nil for any.
    let expectedProductIdentifier: String?

    /// - Throws: `IAPKitProblem` for an invalid body, or another store than Apple's and Google's.
    init(_ body: [UInt8]) throws(IAPKitProblem) {
        guard case .object(let object)? = try? JSONParser.parse(body, limits: .init(bytes: Self.maximumBodySize)) else {
            throw IAPKitProblem(problem: JSONBody.invalid("The body must be a JSON object."))
        }
        let name = try Self.text(object, "store", upTo: 32)
        switch IAPKitAnswer.Store.allCases.first(where: { name?.hasSameBytes(as: $0.rawValue) ?? false }) {
        case .apple: proof = .transaction(try Self.transaction(object))
        case .google: proof = .purchaseToken(try Self.purchaseToken(object))
        case nil:
            throw Self.invalid(
                "store", "must be \"apple\" or \"google\". Purchases of other stores cannot be verified")
        }
        expectedProductIdentifier = try Self.text(object, "expectedProductId", upTo: JSONBody.maximumLength)
        switch object["includeClientPayload"] {
        case nil, .null, .bool(_): break
        default: throw Self.invalid("includeClientPayload", "must be true or false")
        }
    }

    private static func transaction(_ object: JSONObject) throws(IAPKitProblem) -> [UInt8] {
        guard let compact = try text(object, "jws", upTo: maximumProofSize), isCompact(compact) else {
            throw invalid("jws", "must be a signed transaction: three segments of base64url, separated by dots")
        }
        return Array(compact.utf8)
    }

    private static func purchaseToken(_ object: JSONObject) throws(IAPKitProblem) -> GooglePlayToken {
        let name = "purchaseToken"
        guard let text = try text(object, name, upTo: GooglePlayPurchase.maximumTokenSize),
            let token = try? GooglePlayToken(purchaseToken: text)
        else { throw invalid(name, "must be the purchase token of Google Play, of visible ASCII characters") }
        return token
    }

    private static func text(
        _ object: JSONObject,
        _ name: String,
        upTo maximumLength: Int
    ) throws(IAPKitProblem) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text) where (1...maximumLength).contains(text.utf8.count): return text
        default: throw invalid(name, "must be a string of 1 to \(maximumLength) bytes")
        }
    }

    private static func isCompact(_ text: String) -> Bool {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return segments.count == 3
            && segments.allSatisfy { segment in
                !segment.isEmpty && segment.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
            }
    }

    private static func invalid(_ name: String, _ expected: String) -> IAPKitProblem {
        IAPKitProblem(problem: JSONBody.invalid("The field /\(name) \(expected)."), path: name)
    }
}

struct IAPKitErrorMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        await DoorErrors.converted(request, context, next, keepsCode: true) {
            IAPKitProblem(problem: $0).response()
        }
    }
}
