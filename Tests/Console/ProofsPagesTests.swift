import Console
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The proof inspector and the kept proofs.
@Suite struct ProofsPagesTests {
    private func inspect(_ proof: String, by browser: Browser) async throws -> Browser.Page {
        try await browser.post("/console/proofs", ["proof": proof], from: "/console/proofs")
    }

    @Test func `a pasted transaction is decoded completely and verified`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let form = try await browser.get("/console/proofs")
        #expect(form.has("data-drop") && form.has("type=\"file\"") && form.has("multipart/form-data"))
        let proof = try fixture.sign("sprout1")
        let page = try await inspect(proof, by: browser)
        #expect(page.status == 200)
        #expect(page.has("Accepted") && page.has("Signed transaction"))
        #expect(page.text.matches(of: />passed</).count == ProofVerdict.Check.allCases.count)
        #expect(page.has("com.memolease.sesac1.sprout1") && page.has("transactionId") && page.has("ES256"))
        let certificates = try fixture.entitlements.verify(Array(proof.utf8)).chains.flatMap(\.self)
        for certificate in certificates {
            #expect(page.has(certificate.fingerprint.hexadecimal))
            #expect(page.has(certificate.serialNumber.hexadecimal))
            #expect(page.has(certificate.subjectName.description.replacing("'", with: "&#39;")))
        }
        #expect(page.has(AppleExtension.receiptSigning.rawValue))
        #expect(page.has(AppleExtension.worldwideDeveloperRelations.rawValue))
        #expect(!page.has("unknown anchor") && page.has("trusted root"))
        #expect(page.has("date of the signature"))
    }

    @Test func `a receipt and a notification are decoded with what they enclose`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.sign("sprout1")
        // Pasted with line breaks, as from a mail.
        let receipt = try fixture.shop.store.receipt(account: "alice")
        let lines = stride(from: 0, to: receipt.count, by: 76).map { String(receipt.dropFirst($0).prefix(76)) }
        let page = try await inspect(lines.joined(separator: "\r\n"), by: browser)
        #expect(page.has("App receipt") && page.has("Accepted") && page.has("inAppPurchase") && page.has("[1702]"))
        let notification = try #require(try fixture.shop.store.notifications().last).signedPayload
        let body = "{\"signedPayload\":\"\(notification)\"}"
        let told = try await inspect(body, by: browser)
        #expect(told.has("App Store notification") && told.has("signedTransactionInfo"))
        #expect(told.has("Signed transaction") && told.has("com.memolease.sesac1.sprout1"))
    }

    @Test func `a purchase of Google Play is decoded and explained, also without its key`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let purchase = try TestPurchase(of: "sprout1", by: try TestChains.rsa.get().leaf.key)
        let page = try await inspect(purchase.text, by: browser)
        #expect(page.has("Refused") && page.has("appKeyMissing") && page.has("Signed purchase of Google Play"))
        #expect(page.has("GPA.3345-1111-2222-33333") && page.has("order at Google Play") && page.has("RSA, SHA-1"))
        _ = try await browser.post("/console/language", ["language": "ko"], from: "/console/proofs")
        let korean = try await inspect(purchase.text, by: browser)
        #expect(korean.has("Google Play의 서명된 구매") && korean.has("결제 상태"))
    }

    @Test func `the fields of Apple's tables are explained in both languages`() throws {
        var names = TransactionFact.allCases.map { "\($0)" } + RenewalFact.allCases.map { "\($0)" }
        names += AppReceipt.Attribute.allCases.map { "\($0)" } + InAppPurchase.Attribute.allCases.map { "\($0)" }
        for name in names {
            let phrase = try #require(ProofFieldMeaning.phrase(of: name), "\(name)")
            #expect(!phrase.english.isEmpty && phrase.korean != phrase.english, "\(name)")
        }
        #expect(ProofFieldMeaning.phrase(of: "deviceVerification") != nil)
        #expect(ProofFieldMeaning.phrase(of: "unknown") == nil)
    }

    @Test func `a failed check is shown with its code and remedy, and the later ones are not reached`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let parts = try fixture.sign("sprout1").split(separator: ".")
        let other = try fixture.sign("sprout2", account: "bob").split(separator: ".")
        let page = try await inspect("\(parts[0]).\(other[1]).\(parts[2])", by: browser)
        #expect(page.status == 200)
        #expect(page.has("Refused") && page.has("signatureInvalid"))
        #expect(page.text.matches(of: />passed</).count == 5)
        #expect(page.text.matches(of: />failed</).count == 1)
        #expect(page.text.matches(of: />not reached</).count == 3)
        #expect(page.has("Send the proof unchanged and complete."))
        #expect(page.has("com.memolease.sesac1.sprout2"), "the changed payload is shown")
        _ = try await browser.post("/console/language", ["language": "ko"], from: "/console/proofs")
        let korean = try await inspect("\(parts[0]).\(other[1]).\(parts[2])", by: browser)
        #expect(korean.has("서명한 뒤에 바뀌었거나 불완전한 증명입니다."))
    }

    @Test func `another signer's proof has an unknown anchor`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let chain = try TestChains.ellipticCurve.get()
        let proof = String(decoding: try TestProofs.transaction(chain: chain), as: UTF8.self)
        let page = try await inspect(proof, by: browser)
        #expect(page.has("chainUntrusted") && page.has("unknown anchor") && page.has("CN=Test Signing, O=Till"))
    }

    @Test func `text in a proof is shown as text`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let attack = "<script>alert('x')</script>\u{202E}\""
        let chain = try TestChains.make(name: "<img src=x>")
        var payload = TestProofs.transactionPayload(productId: attack)
        _ = payload.add(attack, .array([.string(attack), .object([attack: .string(attack)])]))
        let proof = String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self)
        let page = try await inspect(proof, by: browser)
        #expect(page.status == 200)
        #expect(!page.has("<script>alert") && !page.has("<img"))
        #expect(page.has("&lt;script&gt;alert(&#39;x&#39;)"))
    }

    @Test(arguments: ["hello", "a.b.c", "...", "MIIB", "{}", "0", "\u{1F331}"])
    func `anything else is shown as no proof`(text: String) async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let page = try await inspect(text, by: browser)
        #expect(page.status == 200)
        #expect(page.has("Refused"))
    }

    @Test func `nothing is not a proof, and too much is refused by its size`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        #expect(try await inspect(" \n", by: browser).status == 422)
        let large = String(repeating: "A", count: ProofVerifier.maximumTextSize + 1)
        let page = try await inspect(large, by: browser)
        #expect(page.has("tooLarge") && !page.has("AAAAAAAA"))
    }

    @Test func `an inspection changes nothing in the ledger`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        func counts() throws -> [Int] {
            try fixture.ledger.readNow { transaction in
                try ["user", "audit", "refusal", "redeemed_transaction", "parked_transaction", "notification"].map {
                    try transaction.database.value("SELECT count(*) FROM \"\($0)\"", []) ?? 0
                }
            }
        }
        let before = try counts()
        _ = try await inspect(try fixture.sign("sprout1"), by: browser)
        _ = try await inspect(try #require(try fixture.shop.store.notifications().last).signedPayload, by: browser)
        #expect(try counts() == before)
        #expect(fixture.metrics.refusals.isEmpty)
    }

    @Test func `a kept proof is shown to those who look at its user`() async throws {
        let fixture = try await ConsoleFixture(keepsProofs: true)
        let browser = try await fixture.browser(.viewer)
        let proof = Array(try fixture.sign("sprout1").utf8)
        let digest = try fixture.entitlements.verify(proof).digest.hexadecimal
        let path = "/console/customers/-/%3Cb%3Ealice/proofs/"
        #expect(try await browser.get(path + digest).status == 404)
        _ = try await fixture.entitlements.redeem(proof, for: try #require(User(name: "<b>alice")))
        let page = try await browser.get(path + digest)
        #expect(page.status == 200)
        #expect(page.has("Accepted") && page.has("&lt;b&gt;alice") && page.has("com.memolease.sesac1.sprout1"))
        #expect(!page.has("damaged"))
        let accents = String(repeating: "%C3%A9", count: 32)
        for other in ["x", String(digest.dropLast()), accents, digest + "0"] {
            #expect(try await browser.get(path + other).status == 404)
        }
        try fixture.ledger.writeNow { try $0.database.write("DELETE FROM kept_certificate", []) }
        #expect(try await browser.get(path + digest).has("damaged"))
    }

    @Test(arguments: ["/console/proofs", "/console/unclaimed", "/console/refusals"])
    func `a visitor is asked to log in`(path: String) async throws {
        let fixture = try await ConsoleFixture()
        let visitor = Browser(routes: fixture.routes)
        #expect(try await visitor.get(path).status == 303)
        #expect(try await visitor.post("/console/proofs", ["proof": "x"], from: "/console/log-in").status == 401)
    }
}
