import Foundation
import Proofs
import Service
import TestSupport
import Testing

/// The forms of a proof in a receipt request.
@Suite struct FetchTokenTests {
    private static let transaction = "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2ln"
    private static let renewal = "eyJhbGciOiJFUzI1NiJ9.eyJiIjoyfQ.c2ln"

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    private func refusal(_ token: String) -> ProofRefusal.Reason? {
        do {
            _ = try FetchToken(token)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `a JWS is a signed transaction`() throws {
        let token = try FetchToken(Self.transaction)
        #expect(token == .transaction(Array(Self.transaction.utf8)))
        #expect(token.proofs == [Array(Self.transaction.utf8)])
    }

    @Test func `DER in base64 is an app receipt`() throws {
        let receipt = Base64.encode([0x30, 0x82, 0x01, 0x00])
        #expect(try FetchToken(receipt) == .appReceipt(Array(receipt.utf8)))
    }

    @Test func `JSON in base64 is a collection of Xcode's transactions`() throws {
        let other = Self.transaction + "Mg"
        let token = try FetchToken(
            Self.base64(
                """
                {"environment": "xcode", "bundle_id": "com.example.garden", "transactions": ["\(Self.transaction)"],
                 "original_application_version": "1", "original_purchase_date": null, "subscription_status":
                 {"group": [{"state": 1, "renewal_info": "\(Self.renewal)", "transaction": "\(Self.transaction)"},
                            {"state": 2, "transaction": "\(other)"}]}}
                """))
        guard case .xcode(let receipt) = token else {
            Issue.record("\(token)")
            return
        }
        #expect(receipt.transactions.map { String(decoding: $0, as: UTF8.self) } == [Self.transaction, other])
        #expect(receipt.renewals == [Array(Self.renewal.utf8)])
        #expect(token.proofs == receipt.transactions)
    }

    @Test func `an empty collection has no proofs`() throws {
        #expect(try FetchToken(Self.base64(#"{"transactions": []}"#)).proofs == [])
    }

    @Test(arguments: [
        "", "an awesomer jws token", "YW4gYXdlc29tZSByZWNlaXB0", "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ",
        base64("{"), base64(#"{"transactions": {}}"#), base64(#"{"transactions": ["no proof"]}"#),
        base64(#"{"transactions": [null]}"#), base64(#"{"subscription_status": []}"#),
        base64(#"{"subscription_status": {"group": [1]}}"#),
        base64(#"{"subscription_status": {"group": [{"renewal_info": 1}]}}"#),
        base64(#"{"transactions": [], "transactions": []}"#),
    ])
    func `another token is refused for its encoding`(token: String) {
        #expect(refusal(token) == .encodingInvalid)
    }

    @Test func `a purchase token of Google Play is one, whatever form of Apple's it resembles`() throws {
        // Real ones have 24 lower-case letters, alone or before a period.
        let tokens = ["aaaabbbbccccddddeeeeffff.AO-J1Oz_-", "eyjkbbbbccccddddeeeeffff", "mibbbbbbccccddddeeeeffff"]
        for text in tokens {
            let token = try FetchToken(purchaseToken: text)
            #expect(token == .googlePlay(Array(#"{"purchaseToken":"\#(text)"}"#.utf8)))
            #expect(token.proofs.count == 1)
        }
    }

    @Test func `a text that is no purchase token is refused, and a longer one perhaps later accepted`() {
        for text in ["a b", "aaaa\n", "é", "\u{1}", ""] {
            #expect(throws: ProofRefusal.self) { try FetchToken(purchaseToken: text) }
        }
        let long = String(repeating: "a", count: GooglePlayPurchase.maximumTokenSize + 1)
        #expect(throws: ProofRefusal(.tooLarge)) { try FetchToken(purchaseToken: long) }
    }

    @Test func `a token has a maximum size, and a collection a maximum count`() {
        #expect(refusal(String(repeating: "A", count: FetchToken.maximumSize + 1)) == .tooLarge)
        let proofs = (0...XcodeReceipt.maximumCount).map { "\"eyJ.\($0).a\"" }.joined(separator: ",")
        #expect(refusal(Self.base64("{\"transactions\":[\(proofs)]}")) == .tooManyPurchases)
    }
}
