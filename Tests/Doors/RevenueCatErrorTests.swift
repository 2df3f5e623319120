import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The status rule: an answer below 500 makes the SDK finish the transaction for good.
@Suite struct RevenueCatErrorTests {
    private static let statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 431, 500, 502, 503, 507]

    private func answer(_ code: String, _ status: Int, at endpoint: RevenueCatEndpoint) -> RevenueCatProblem {
        RevenueCatProblem(Problem(status: .init(code: status), code: code, detail: "It failed."), at: endpoint)
    }

    /// The error codes of the service.
    static let codes = SharedAnswer.codes(explainedIn: ServiceRoutes.errorPage)

    @Test func `the table names only codes of the service`() {
        #expect(Self.codes.count > 100)
        #expect(Set(RevenueCatErrorRule.byCode.keys).subtracting(Self.codes).sorted() == [])
    }

    @Test func `each refusal of a purchase and of a proof has a number of its own`() {
        let refusals =
            Redemption.Result.allCases.filter { !$0.allowsFinish }.map(\.rawValue)
            + ProofRefusal.Reason.allCases.map(\.rawValue)
        #expect(refusals.filter { RevenueCatErrorRule.byCode[$0] == nil } == [])
    }

    @Test func `only these refusals are permanent`() {
        let permanent = RevenueCatErrorRule.byCode.filter(\.value.safety.isPermanent)
        #expect(
            permanent.keys.sorted() == [
                "algorithmNotAllowed", "appleExtensionMissing", "chainShape", "containerInvalid",
                "encodingInvalid", "googlePlayTokenEnded", "notRedeemable", "ownedByAnotherUser", "purchaseConsumed",
                "signatureInvalid",
                "signerCertificateMissing", "tooManyCertificates",
            ])
    }

    @Test(arguments: codes)
    func `an error is below 500 only if nothing is lost`(code: String) {
        let rule = RevenueCatErrorRule(code: code)
        for endpoint in RevenueCatEndpoint.allCases where endpoint.consequence == .ends {
            for status in Self.statuses {
                let answer = answer(code, status, at: endpoint)
                #expect((answer.status < 500) == (rule.safety.isPermanent && status < 500), "\(endpoint) \(status)")
                #expect(answer.number == rule.number)
            }
        }
    }

    @Test(arguments: [
        (PlayDeveloperError.tokenEnded, 400, 7103), (.tokenUnknown, 503, 7103), (.notThisApp, 503, 7230),
        (.stateInvalid, 503, 7231), (.accountRefused(status: 401, reason: "permissionDenied"), 503, 7107),
        (.limited(seconds: 30), 503, 7229), (.unreachable(host: "play"), 503, 7231), (.failed(status: 500), 503, 7231),
        (.refused(status: 418, reason: nil), 503, 7231), (.answerInvalid(reason: nil), 503, 7231),
        (.cancelled, 503, 7231),
    ])
    func `each error of the Play Developer API has its status and number`(
        error: PlayDeveloperError,
        status: Int,
        number: Int
    ) throws {
        let answer = RevenueCatProblem(try #require(Problem(error)), at: .receipts)
        #expect((answer.status, answer.number.rawValue) == (status, number))
        // The doors end no purchase that the API lets the client send again.
        #expect(!error.rule.mayRetry || answer.status >= 500)
        #expect(answer.retryAfter == (error == .limited(seconds: 30) ? "30" : nil))
    }

    @Test func `refusals of proofs of Google Play have their statuses and numbers`() throws {
        for (reason, number) in [
            (ProofRefusal.Reason.serviceAccountMissing, 7107), (.appKeyMissing, 7103), (.purchasePending, 7651),
            (.purchaseFormRetired, 7103), (.staticTestPurchase, 7103), (.bundleIdentifierMismatch, 7103),
            (.purchaseKindUnsupported, 7103),
        ] {
            let problem = try #require(Problem(RedemptionError.refused(ProofRefusal(reason))))
            let answer = RevenueCatProblem(problem, at: .receipts)
            #expect((answer.status, answer.number.rawValue) == (503, number), "\(reason)")
        }
        for (error, number) in [(RedemptionError.purchaseNotOwned, 7651), (.subscriptionStateUnknown, 7101)] {
            let answer = RevenueCatProblem(try #require(Problem(error)), at: .receipts)
            #expect((answer.status, answer.number.rawValue) == (503, number))
        }
        let forged = try #require(Problem(RedemptionError.refused(ProofRefusal(.signatureInvalid))))
        #expect(RevenueCatProblem(forged, at: .receipts).status == 400)
    }

    @Test(arguments: Self.statuses) func `an unknown code is sent again`(status: Int) {
        let answer = answer("inventedLater", status, at: .receipts)
        #expect(answer.status >= 500)
        #expect(answer.number == .internalError)
    }

    @Test func `the real service's statuses and numbers are kept`() {
        let badProof = answer("signatureInvalid", 422, at: .receipts)
        #expect((badProof.status, badProof.number.rawValue) == (400, 7103))
        let otherOwner = answer("ownedByAnotherUser", 409, at: .receipts)
        #expect((otherOwner.status, otherOwner.number.rawValue) == (409, 7102))
        let badKey = answer("keyInvalid", 401, at: .customer)
        #expect((badKey.status, badKey.number.rawValue) == (401, 7225))
        let badKeyAtReceipts = answer("keyInvalid", 401, at: .receipts)
        #expect((badKeyAtReceipts.status, badKeyAtReceipts.number.rawValue) == (503, 7225))
        let database = answer("storageUnreachable", 503, at: .customer)
        #expect((database.status, database.number.rawValue) == (503, 7110))
    }

    @Test(arguments: Self.statuses) func `the endpoint that must not fail never does`(status: Int) {
        #expect(answer("tooBusy", status, at: .remoteConfiguration).status < 500)
    }

    @Test func `an answer has the protocol's form`() throws {
        let problem = Problem(status: .tooManyRequests, code: "tooManyRequests", detail: "Wait.", retryAfter: 7)
        let answer = RevenueCatProblem(problem, at: .receipts)
        #expect(answer.retryAfter == "7")
        #expect(answer.json.compactText == #"{"code":7110,"message":"Wait."}"#)
        #expect(try JSONSchema(named: "Error").violations(in: answer.json) == [])
        let response = answer.response()
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.retryAfter] == "7")
    }

    @Test(
        arguments: [
            (HTTPRequest.Method.post, "/v1/receipts", RevenueCatEndpoint.receipts),
            (.post, "/v1/subscribers/identify", .logIn),
            (.get, "/v1/subscribers/identify", .customer),
            (.get, "/v1/subscribers/userid%20with%20spaces", .customer),
            (.post, "/v1/subscribers/%24RCAnonymousID%3Aab/attributes", .attributes),
            (.post, "/v1/subscribers/user/restore/eligibility", .restoreEligibility),
            (.get, "/v1/receipts", nil),
            (.post, "/v1/subscribers/user/other", nil),
            (.get, "/v1/users/user", nil),
        ] as [(HTTPRequest.Method, String, RevenueCatEndpoint?)])
    func `a request belongs to its endpoint`(method: HTTPRequest.Method, path: String, endpoint: RevenueCatEndpoint?) {
        #expect(RevenueCatEndpoint(method: method, path: path[...]) == endpoint)
    }

    @Test(
        arguments: [
            "/", "/?", "/v1/subscribers/user?a=/b//c", "//v1//subscribers//user/", "/v1/subscribers/user#a?b",
            "/a://b/v1",
            "http://localhost/v1/subscribers/user?a", "http://localhost", "http://localhost?a", "a://b//c", "v1/a?b",
            "*", "",
        ])
    func `the path of a request is the one that the router reads`(target: String) {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: target)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        #expect(String(request.path) == request.uri.path)
    }
}
