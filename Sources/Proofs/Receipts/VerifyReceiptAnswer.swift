/// The answer of Apple's verifyReceipt endpoint about an app receipt: a status and the `receipt` object (Apple,
/// "verifyReceipt", `responseBody`). The data that Apple adds from its own records is absent.
public struct VerifyReceiptAnswer: Sendable {
    /// The status codes that depend only on the receipt (Apple, "status").
    public enum Status: Int64, Sendable {
        case valid = 0
        case malformed = 21002
        case notAuthenticated = 21003
        case sandboxReceiptSentToProduction = 21007
        case productionReceiptSentToSandbox = 21008
        case internalDataAccessError = 21009
    }

    /// The status. Nil if the number is not about the receipt.
    public let status: Status?
    /// The whole answer. If the receipt is not valid, only the status.
    public let json: JSONValue

    /// - Parameters:
    ///   - proof: The value of `receipt-data`.
    ///   - environment: The environment of the server. Nil accepts both production and sandbox receipts.
    ///   - requestDate: The date of the request.
    public init(to proof: [UInt8], environment: AppStoreEnvironment?, verifier: ProofVerifier, requestDate: Timestamp) {
        do throws(ProofRefusal) {
            let verified = try verifier.verify(
                proof, expecting: ProofExpectations(environment: environment, origins: Set(Origin.allCases)))
            guard case .appReceipt(let receipt) = verified.content else { throw ProofRefusal(.encodingInvalid) }
            guard let object = ReceiptObject(receipt, requestDate: requestDate) else {
                self.init(.internalDataAccessError)
                return
            }
            self.init(
                .valid, [("environment", .string(verified.environment.rawValue)), ("receipt", .object(object.members))])
        } catch {
            self.init(Self.status(for: error, environment: environment))
        }
    }

    private init(_ status: Status, _ members: [(String, JSONValue)] = []) {
        self.init(number: status.rawValue, members)
    }

    private init(number: Int64, _ members: [(String, JSONValue)]) {
        status = Status(rawValue: number)
        var object: JSONObject = ["status": .integer(number)]
        for (key, value) in members { _ = object.add(key, value) }
        json = .object(object)
    }

    /// Creates the answer of any other status. For its own faults, Apple also states if a retry may succeed.
    public init(statusNumber: Int64, environment: AppStoreEnvironment) {
        var members: [(String, JSONValue)] = []
        if statusNumber == 21009 || statusNumber == 21010 || (21100...21199).contains(statusNumber) {
            members = [("environment", .string(environment.rawValue)), ("is_retryable", .bool(statusNumber != 21010))]
        }
        self.init(number: statusNumber, members)
    }

    package func adding(_ members: [(String, JSONValue)]) -> VerifyReceiptAnswer {
        guard case .object(let object) = json, let status else { return self }
        return VerifyReceiptAnswer(status, object.members.dropFirst().map { ($0.key, $0.value) } + members)
    }

    private static func status(for refusal: ProofRefusal, environment: AppStoreEnvironment?) -> Status {
        if refusal.reason == .environmentMismatch {
            return environment == .production ? .sandboxReceiptSentToProduction : .productionReceiptSentToSandbox
        }
        switch refusal.reason.step {
        case .size, .encoding, .container, .payload: return .malformed
        case .chain, .extensions, .signature, .appAndOrigin, .revocation: return .notAuthenticated
        }
    }
}
