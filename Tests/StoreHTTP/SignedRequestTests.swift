import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The verdicts on requests to StoreKit that a developer's server has signed. `make test-apple` lets Apple's own library sign them.
@Suite struct SignedRequestTests {
    private static let uuid = "7f3c2a10-5b1e-4c8d-9a6f-2d4e8b0c1a35"
    private static let monthly = "garden.basic.monthly"

    /// The changes of a token; nil leaves a member out. `{alice}` stands for a transaction of a subscriber, `{bob}` for one of another
    /// customer.
    typealias Changes = [String: JSONValue?]

    private let garden: TestGarden
    private let key: TeamKey
    private let privateKey: String
    private let values: [String: String]

    init() throws {
        garden = try TestGarden(isInMemory: true)
        var privateKey = ""
        key = try garden.store.makeTeamKey { privateKey = $1 }
        self.privateKey = privateKey
        values = [
            "{alice}": try #require(try garden.buy(Self.monthly).purchase).transactionIdentifier,
            "{bob}": try #require(try garden.buy("garden.seeds", account: "bob").purchase).transactionIdentifier,
        ]
    }

    private func filled(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value else { return value }
        return .string(values[text] ?? text)
    }

    private func verdict(_ claims: Changes, header: Changes = [:], signedBy pem: String? = nil) throws
        -> SignedRequestVerdict
    {
        let standardHeader: Changes = ["alg": "ES256", "kid": .string(key.keyIdentifier), "typ": "JWT"]
        let standardClaims: Changes = [
            "iss": .string(key.issuerIdentifier), "bid": .string(TestGarden.bundleIdentifier),
            "iat": .integer(garden.store.now.secondsSince1970), "nonce": .string(Self.uuid),
        ]
        func text(_ standard: Changes, _ changes: Changes) -> String {
            let members = standard.merging(changes) { $1 }.compactMapValues { $0.map(filled) }
            return JSONValue.object(JSONObject(members)).compactText
        }
        let signed = [text(standardHeader, header), text(standardClaims, claims)]
            .map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try PrivateKey(pem: pem ?? privateKey).signES256(Array(signed.utf8))
        return try garden.store.read {
            try $0.verdict(onSignedRequest: signed + "." + Base64.encode(signature, .urlSafe))
        }
    }

    private static let promotional: Changes = [
        "aud": "promotional-offer", "productId": .string(monthly), "offerIdentifier": "spring",
        "transactionId": "{alice}",
    ]
    private static let introductory: Changes = [
        "aud": "introductory-offer-eligibility", "productId": .string(monthly), "allowIntroductoryOffer": .bool(true),
        "transactionId": "{alice}",
    ]

    private static func advanced(_ changes: [String: JSONValue?] = [:]) -> Changes {
        let standard: Changes = [
            "operation": "MODIFY_SUBSCRIPTION", "version": "1", "retainBillingCycle": .bool(false),
            "transactionId": "1",
            "requestInfo": .object(JSONObject(["requestReferenceId": .string(uuid)])),
        ]
        let members = standard.merging(changes) { $1 }.compactMapValues { $0 }
        let text = JSONValue.object(JSONObject(members)).compactText
        return ["aud": "advanced-commerce-api", "request": .string(Base64.encode(text.utf8))]
    }

    private static let charge: Changes = [
        "operation": "CREATE_ONE_TIME_CHARGE", "currency": "USD", "item": .object(JSONObject([:])), "taxCode": "C003",
    ]

    @Test(
        arguments: [
            (promotional, [:]), (promotional, ["transactionId": nil]), (introductory, [:]),
            (introductory, ["allowIntroductoryOffer": .bool(false)]), (introductory, ["transactionId": "{bob}"]),
            (promotional, ["aud": .array(["promotional-offer"])]), (advanced(), [:]), (advanced(charge), [:]),
            (advanced(["operation": "REACTIVATE_SUBSCRIPTION", "retainBillingCycle": nil]), [:]),
        ] as [(Changes, Changes)])
    func `a request that says what Apple asks for is accepted`(claims: Changes, changes: Changes) throws {
        let verdict = try verdict(claims.merging(changes) { $1 })
        #expect(verdict.isAccepted && verdict.refusal == nil, "\(verdict.refusal ?? "")")
        #expect(verdict.claims?["nonce"]?.text == Self.uuid)
        #expect((verdict.request != nil) == (verdict.audience == "advanced-commerce-api"))
    }

    @Test(
        arguments: [
            (promotional, ["aud": "appstoreconnect-v1"], "aud"), (promotional, ["aud": nil], "aud"),
            (promotional, ["iss": "another"], "iss"), (promotional, ["bid": "com.example.other"], "bid"),
            (promotional, ["iat": nil], "iat"), (promotional, ["iat": .integer(1_793_448_000_000)], "iat"),
            (promotional, ["iat": "1793448000"], "iat"), (promotional, ["nonce": nil], "nonce"),
            (promotional, ["nonce": "one"], "nonce"), (promotional, ["productId": "garden.seeds"], "productId"),
            (promotional, ["productId": nil], "productId"),
            (promotional, ["offerIdentifier": "autumn"], "offerIdentifier"),
            (promotional, ["offerIdentifier": nil], "offerIdentifier"),
            (promotional, ["transactionId": "9"], "transactionId"),
            (promotional, ["transactionId": .integer(9)], "transactionId"),
            (promotional, ["transactionId": "{bob}"], "not eligible"),
            (introductory, ["productId": "garden.premium.monthly"], "no introductory offer"),
            (introductory, ["allowIntroductoryOffer": "true"], "allowIntroductoryOffer"),
            (introductory, ["transactionId": nil], "transactionId"), (advanced(), ["request": "e30"], "request"),
            (advanced(), ["request": nil], "request"), (advanced(["operation": "CANCEL"]), [:], "operation"),
            (advanced(["version": .integer(1)]), [:], "version"), (advanced(["requestInfo": nil]), [:], "requestInfo"),
            (advanced(["transactionId": nil]), [:], "lacks transactionId"),
            (advanced(charge.merging(["currency": .null]) { $1 }), [:], "lacks currency"),
        ] as [(Changes, Changes, String)])
    func `a request with a mistake is refused, and the reason names it`(
        claims: Changes,
        changes: Changes,
        reason: String
    ) throws {
        let verdict = try verdict(claims.merging(changes) { $1 })
        #expect(!verdict.isAccepted && verdict.refusal?.contains(reason) == true, "\(verdict.refusal ?? "accepted")")
    }

    @Test func `another key, algorithm or form is refused`() throws {
        let other = try PrivateKey.generate(.p256).pem()
        for (header, pem, reason) in [
            ([:], other, "not by the key \(key.keyIdentifier)"), (["kid": "ABCDEFGHJK"], nil, "no key of the store"),
            (["kid": nil], nil, "no key of the store"), (["alg": "RS256"], nil, "alg"),
        ] as [(Changes, String?, String)] {
            let verdict = try verdict(Self.promotional, header: header, signedBy: pem)
            #expect(verdict.refusal?.contains(reason) == true, "\(verdict.refusal ?? "accepted")")
            // The claims are shown, whoever has signed them.
            #expect(verdict.claims?["offerIdentifier"]?.text == "spring")
        }
        for compact in ["", "a.b.c", "a.b", String(repeating: "a", count: 9000)] {
            let verdict = try garden.store.read { try $0.verdict(onSignedRequest: compact) }
            #expect(verdict.refusal?.contains("not a signed JWT") == true)
            #expect(verdict.claims == nil && verdict.audience == nil)
        }
    }
}
