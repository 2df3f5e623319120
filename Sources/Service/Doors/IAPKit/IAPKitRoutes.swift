import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The route that `verifyPurchaseWithProvider` of react-native-iap and expo-iap asks.
///
/// The protocol names no user. So the route verifies a proof and tells the state of its purchase, and redeems nothing.
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
            let answer = try await answer(to: sent, from: try context.requiredCaller)
            return JSONAnswer.response(bytes: JSONAnswer.encode(answer.json))
        }
    }

    private func answer(to sent: IAPKitRequest, from caller: Caller) async throws -> IAPKitAnswer {
        let service = services.limited(to: caller).entitlements
        do {
            let verified = try await BlockingWork.process(sent.proof.count) {
                try service.verify(sent.proof)
            }
            let purchase = try await service.purchase(in: verified)
            let moment = verified.purchases?.first.map { service.now(ofBuyerOf: $0.transactionIdentifier) }
            return IAPKitAnswer(
                purchase, expecting: sent.expectedProductIdentifier, at: moment ?? services.clock.now())
        } catch RedemptionError.refused(let refusal) where IAPKitAnswer.isUnsigned(refusal.reason) {
            return .unsigned
        } catch let error as RedemptionError {
            throw IAPKitProblem(
                problem: Problem(error) ?? .unexpected, path: "jws",
                // Only a refusal that no later event can change is an error of the client.
                isTemporary: !RevenueCatErrorRule.isPermanent(error.code))
        }
    }
}

/// The body of `POST /v1/purchase/verify`. Unknown members are ignored, because newer clients send more.
struct IAPKitRequest: Hashable, Sendable {
    /// The maximum size of a body in bytes.
    static let maximumBodySize = 32 * 1024
    /// The maximum size of a signed transaction in bytes. Apple's has about 5 KB.
    static let maximumProofSize = 16 * 1024

    /// The signed transaction (JWS).
    let proof: [UInt8]
    /// The product that the app expects; nil for any.
    let expectedProductIdentifier: String?

    /// - Throws: `IAPKitProblem` for an invalid body, or another store than Apple's.
    init(_ body: [UInt8]) throws(IAPKitProblem) {
        guard case .object(let object)? = try? JSONParser.parse(body, limits: .init(bytes: Self.maximumBodySize)) else {
            throw IAPKitProblem(problem: JSONBody.invalid("The body must be a JSON object."))
        }
        let store = try Self.text(object, "store", upTo: 32)
        guard store?.hasSameBytes(as: "apple") == true else {
            throw Self.invalid("store", "must be \"apple\". Purchases of other stores cannot be verified")
        }
        guard let compact = try Self.text(object, "jws", upTo: Self.maximumProofSize), Self.isCompact(compact) else {
            throw Self.invalid("jws", "must be a signed transaction: three segments of base64url, separated by dots")
        }
        proof = Array(compact.utf8)
        expectedProductIdentifier = try Self.text(object, "expectedProductId", upTo: JSONBody.maximumLength)
        switch object["includeClientPayload"] {
        case nil, .null, .bool(_): break
        default: throw Self.invalid("includeClientPayload", "must be true or false")
        }
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

/// Converts each error of the protocol's one route.
struct IAPKitErrorMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        await DoorErrors.converted(request, context, next, keepsCode: true) {
            IAPKitProblem(problem: $0).response()
        }
    }
}
