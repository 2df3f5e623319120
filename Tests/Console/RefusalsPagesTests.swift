import Entitlements
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The pages of refused purchases and proofs.
@Suite struct RefusalsPagesTests {
    let fixture: ConsoleFixture

    init() async throws {
        fixture = try await ConsoleFixture()
    }

    /// Redeems alice's purchase for her, and presents it for other users.
    private func refuse(_ names: [String]) async throws {
        let proof = Array(try fixture.sign("sprout1").utf8)
        _ = try await fixture.entitlements.redeem(proof, for: try #require(User(name: "alice")))
        for name in names {
            let user = try #require(User(name: name))
            await #expect(throws: RedemptionError.self) {
                _ = try await fixture.entitlements.redeem(proof, for: user)
            }
        }
    }

    @Test func `refused purchases are listed by code with cause, remedy and the latest ones`() async throws {
        let browser = try await fixture.browser(.viewer)
        let empty = try await browser.get("/console/refusals")
        #expect(empty.has("No purchase was ever refused.") && empty.has("None since the start of the service."))
        try await refuse((0..<7).map { "user\($0)" })
        let page = try await browser.get("/console/refusals")
        #expect(page.has("ownedByAnotherUser") && page.has("Another user has redeemed the purchase and keeps it."))
        #expect(page.text.contains(/<td[^>]*>7<\/td>/))
        #expect(page.text.matches(of: />user\d</).count == 5)
        let all = try await browser.get("/console/refusals/ownedByAnotherUser?pageSize=3")
        #expect(all.text.matches(of: />user\d</).count == 3)
        let next = try #require(all.text.firstMatch(of: /href="(\/console\/refusals\/[^"]+cursor=[^"]+)"/)).1
        #expect(try await browser.get(String(next)).text.matches(of: />user\d</).count == 4)
        #expect(try await browser.get("/console/refusals/ownedByAnotherUser?cursor=AAAA").status == 400)
    }

    @Test func `the name of a user is shown as text`() async throws {
        let browser = try await fixture.browser(.viewer)
        try await refuse(["<script>alert(1)</script>", "\"'&"])
        let page = try await browser.get("/console/refusals")
        #expect(!page.has("<script>alert"))
        #expect(page.has("&lt;script&gt;alert(1)&lt;/script&gt;") && page.has("&quot;&#39;&amp;"))
        let strange = try await browser.get("/console/refusals/%3Cscript%3E")
        #expect(strange.status == 200 && !strange.has("<script>") && strange.has("&lt;script&gt;"))
    }

    @Test func `refused proofs are counted by code`() async throws {
        fixture.metrics.count(.redemptions, "refused", code: "chainUntrusted")
        fixture.metrics.count(.redemptions, "refused", code: "chainUntrusted")
        fixture.metrics.count(.notifications, "refused", code: "chainUntrusted")
        fixture.metrics.count(.notifications, "refused", code: "signatureInvalid")
        // This one is recorded, and this one is no refusal of a proof.
        fixture.metrics.count(.redemptions, "refused", code: "originNotAccepted")
        fixture.metrics.count(.redemptions, "refused", code: "bodyTooLarge")
        #expect(fixture.metrics.refusals.map(\.code).count == 4)
        let page = try await fixture.browser(.viewer).get("/console/refusals")
        #expect(page.has("The certificates do not lead to a trusted root."))
        #expect(page.text.contains(/<td[^>]*>2<\/td><td[^>]*>1<\/td>/))
        #expect(page.text.contains(/<td[^>]*>0<\/td><td[^>]*>1<\/td>/))
        #expect(!page.has("originNotAccepted") && !page.has("bodyTooLarge"))
    }

    @Test func `the page speaks Korean`() async throws {
        try await refuse(["bob"])
        let browser = try await fixture.browser(.viewer)
        _ = try await browser.post("/console/language", ["language": "ko"], from: "/console/refusals")
        let page = try await browser.get("/console/refusals")
        #expect(page.has("이 구매는 다른 사용자에게 지급되었고 그 사용자가 계속 소유합니다."))
    }

    @Test func `every refusal has a cause and a remedy in both languages`() async throws {
        let alice = try #require(User(name: "alice"))
        let proof = Array(try fixture.sign("sprout1").utf8)
        let claims = try await SignedProofs(fixture.entitlements).claims(ofRefused: proof)
        for reason in ProofRefusal.Reason.allCases {
            fixture.metrics.count(.redemptions, "refused", code: reason.rawValue)
            guard reason.step == .appAndOrigin else { continue }
            try await fixture.ledger.write {
                try $0.recordRefusal(
                    reason.rawValue, of: claims, in: fixture.shop.catalog.bundleIdentifier, for: alice, by: .user,
                    at: fixture.shop.clock.now())
            }
        }
        let browser = try await fixture.browser(.viewer)
        func table(after title: String) async throws -> String {
            let page = try await browser.get("/console/refusals")
            let rest = page.text[try #require(page.text.range(of: title)).upperBound...]
            return String(rest[..<(rest.range(of: "</table>")?.lowerBound ?? rest.endIndex)])
        }
        for (language, titles) in [
            ("en", ["Refused purchases</h2>", "Refused proofs</h2>"]), ("ko", ["거절된 구매</h2>", "거절된 증명</h2>"]),
        ] {
            _ = try await browser.post("/console/language", ["language": language], from: "/console/refusals")
            let (purchases, proofs) = (try await table(after: titles[0]), try await table(after: titles[1]))
            for reason in ProofRefusal.Reason.allCases {
                #expect(
                    (reason.step == .appAndOrigin ? purchases : proofs).contains(">\(reason.rawValue)<"), "\(reason)")
            }
            #expect(!purchases.contains("class=\"nothing\""))
            // A redemption does not check revocations, so their codes belong to no check of the list.
            #expect(proofs.matches(of: /class="nothing"/).count == 2)
        }
    }
}
