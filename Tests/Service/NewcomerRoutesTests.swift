import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Strangers who sign up write a bounded number of bytes until they have a purchase.
@Suite struct NewcomerRoutesTests {
    /// The bytes of an account, at least.
    private static let account = 1024
    private static let day: Int64 = 86_400_000

    private func fixture(bytes: Int) async throws -> ServiceFixture {
        var limits = RequestLimits()
        (limits.perKey, limits.perUser, limits.newcomerBytesPerAddress) = (100_000, 100_000, bytes)
        let fixture = try await ServiceFixture(limits: limits)
        // The service has not used up the bytes of the day.
        fixture.shop.clock.advance(milliseconds: 2 * Self.day)
        return fixture
    }

    private func signUp(_ name: String, at fixture: ServiceFixture) async throws -> ServiceFixture.Answer {
        try await fixture.send(
            .post, "/v1/accounts", body: #"{"email":"\#(name)@example.com","password":"correct horse"}"#, key: "")
    }

    /// - Returns: The access token of a new account, and its name.
    private func newcomer(_ name: String, at fixture: ServiceFixture) async throws -> (token: String, name: String) {
        let entrance = try await signUp(name, at: fixture).decoded(EntranceResource.self)
        return (entrance.tokens.accessToken, entrance.account.accountId)
    }

    private func attribute(_ name: String, _ length: Int = 1) -> String {
        #"{"attributes":[{"name":"\#(name)","value":"\#(String(repeating: "v", count: length))"}]}"#
    }

    private func count(_ table: String, at fixture: ServiceFixture) async throws -> Int {
        try await fixture.ledger.read { try $0.database.value("SELECT count(*) FROM \"\(table)\"", []) ?? 0 }
    }

    private func expectLimited(_ answer: ServiceFixture.Answer, _ comment: Comment? = nil) {
        #expect(answer.status == 429, comment)
        #expect(answer.code == "tooManyRequests", comment)
        #expect(answer.headers[.retryAfter] != nil, comment)
    }

    private func redeem(
        _ bought: Int64,
        by token: String,
        at fixture: ServiceFixture
    ) async throws -> ServiceFixture.Answer {
        let signed = try fixture.shop.store.signedTransaction(bought)
        return try await fixture.send(
            .post, "/v1/me/transactions", body: #"{"signedTransaction":"\#(signed)"}"#, key: token)
    }

    @Test func `no account is opened beyond the budget`() async throws {
        let fixture = try await fixture(bytes: 8 * Self.account)
        var answers: [ServiceFixture.Answer] = []
        for number in 0..<10 { answers.append(try await signUp("user\(number)", at: fixture)) }
        let opened = answers.count { $0.status == 201 }
        #expect((1...8).contains(opened))
        for answer in answers.dropFirst(opened) { expectLimited(answer) }
        #expect(try await count("account", at: fixture) == opened)
        // A taken address is no secret, and costs nothing.
        #expect(try await signUp("user0", at: fixture).code == "emailTaken")
        fixture.shop.clock.advance(milliseconds: Self.day)
        #expect(try await signUp("late", at: fixture).status == 201)
    }

    @Test func `attributes of a user without a purchase come out of the budget`() async throws {
        let fixture = try await fixture(bytes: 16 * Self.account)
        let (token, name) = try await newcomer("mint", at: fixture)
        let (buyer, _) = try await newcomer("buyer", at: fixture)
        #expect(try await redeem(try fixture.buy("sprout1").identifier, by: buyer, at: fixture).status == 200)
        func state(_ body: String, by token: String) async throws -> ServiceFixture.Answer {
            try await fixture.send(.put, "/v1/me/attributes", body: body, key: token)
        }
        var answers: [ServiceFixture.Answer] = []
        for number in 0..<20 { answers.append(try await state(attribute("a\(number)", 2000), by: token)) }
        let stated = answers.count { $0.status == 204 }
        #expect((1...8).contains(stated))
        for answer in answers.dropFirst(stated) { expectLimited(answer) }
        #expect(try await count("attribute", at: fixture) == stated)
        // Another value of the same length takes nothing.
        let same = attribute("a0", 2000).replacing("v", with: "w").replacing("walue", with: "value")
        fixture.shop.clock.advance(milliseconds: 1)
        for _ in 0..<10 { #expect(try await state(same, by: token).status == 204) }
        // A customer with a purchase and a back end have no limit.
        #expect(try await state(attribute("note", 2000), by: buyer).status == 204)
        let sent = try await fixture.send(
            .put, "/v1/users/\(name)/attributes?issuer=till", body: attribute("note", 2000))
        #expect(sent.status == 204)
        #expect(try await redeem(try fixture.buy("sprout2").identifier, by: token, at: fixture).status == 200)
        #expect(try await state(attribute("late", 2000), by: token).status == 204)
    }

    @Test func `answers are kept within the budget, and are the same beyond it`() async throws {
        let fixture = try await fixture(bytes: 8 * Self.account)
        let (token, _) = try await newcomer("mint", at: fixture)
        let (key, replayed) = (
            try #require(HTTPField.Name("Idempotency-Key")), try #require(HTTPField.Name("Idempotent-Replayed"))
        )
        func send(_ number: Int) async throws -> ServiceFixture.Answer {
            try await fixture.send(
                .post, "/v1/me/transactions", body: #"{"signedTransaction":"x"}"#, key: token,
                headers: [key: "k\(number)"])
        }
        var answers: [ServiceFixture.Answer] = []
        for number in 0..<30 { answers.append(try await send(number)) }
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(Set(answers.map(\.status)).count == 1 && answers[0].status != 429)
        let kept = try await count("kept_answer", at: fixture)
        #expect((1...16).contains(kept))
        #expect(try await send(0).headers[replayed] == "true")
        let last = try await send(29)
        #expect(last.headers[replayed] == nil)
        #expect(last.body == answers[29].body)
        // A purchase is granted, and its answer is kept.
        let signed = try fixture.shop.store.signedTransaction(try fixture.buy("sprout1").identifier)
        for isRepeated in [false, true] {
            let answer = try await fixture.send(
                .post, "/v1/me/transactions", body: #"{"signedTransaction":"\#(signed)"}"#, key: token,
                headers: [key: "bought"])
            #expect(try answer.decoded(Redemption.self).outcome == .granted)
            #expect(answer.headers[replayed] == (isRepeated ? "true" : nil))
        }
    }

    @Test func `profiles, wishes and refusals of a user without a purchase come out of the budget`() async throws {
        let fixture = try await fixture(bytes: 4 * Self.account)
        let (buyer, _) = try await newcomer("buyer", at: fixture)
        let bought = try fixture.buy("sprout1").identifier
        #expect(try await redeem(bought, by: buyer, at: fixture).status == 200)
        let (token, _) = try await newcomer("mint", at: fixture)
        let wish = "/v1/me/wishes/com.memolease.sesac1.sprout2"
        func change(_ token: String) async throws -> ServiceFixture.Answer {
            try await fixture.send(.patch, "/v1/me/profile", body: #"{"nickname":"Minty"}"#, key: token)
        }
        var answers: [ServiceFixture.Answer] = []
        for _ in 0..<50 { answers.append(try await change(token)) }
        #expect(answers.first?.status == 200)
        expectLimited(try #require(answers.last))
        expectLimited(try await fixture.send(.put, wish, key: token))
        // The answer to a refused purchase is the same, and is not recorded.
        #expect(try await redeem(bought, by: token, at: fixture).code == "ownedByAnotherUser")
        #expect(try await count("refusal", at: fixture) == 0)
        #expect(try await count("wish", at: fixture) == 0)
        #expect(try await change(buyer).status == 200)
        #expect(try await fixture.send(.put, wish, key: buyer).status == 204)
        #expect(try await fixture.send(.delete, wish, key: token).status == 204)
    }

    /// The smallest budget of a service is 1 MiB. Beside a quarter for each site, a quarter is kept for sites that have used none.
    @Test(arguments: [
        (1...4).map { site in (0..<64).map { "192.0.\(site).\($0)" } },
        (1...4).map { site in (0..<64).map { "2001:db8:\(site):\(String($0 * 256, radix: 16))::1" } },
    ])
    func `networks that use up what they may leave sign-ups to others`(sites: [[String]]) async throws {
        var limits = RequestLimits()
        limits.newcomerBytesPerDay = 1 << 20
        let fixture = try await ServiceFixture(limits: limits, proxies: 1)
        fixture.shop.clock.advance(milliseconds: 2 * Self.day)
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        var opened: [Int] = []
        for (site, addresses) in sites.enumerated() {
            // Each address has 30 sign-ups at once, and its site 480.
            var statuses: [Int] = []
            for number in 0..<180 {
                let body = #"{"email":"\#(site)-\#(number)@example.com","password":"correct horse"}"#
                let answer = try await fixture.send(
                    .post, "/v1/accounts", body: body, key: "", headers: [name: addresses[number % 64]])
                statuses.append(answer.status)
            }
            #expect(Set(statuses).isSubset(of: [201, 429]))
            opened.append(statuses.count { $0 == 201 })
        }
        // An account takes 1.7 KB. A site has 256 KiB, and the fourth one only its first 16 KiB.
        for count in opened[..<3] { #expect((120...200).contains(count)) }
        #expect((5...10).contains(opened[3]))
        let honest = try await fixture.send(
            .post, "/v1/accounts", body: #"{"email":"honest@example.com","password":"correct horse"}"#, key: "",
            headers: [name: "198.51.100.1"])
        #expect(honest.status == 201)
    }
}
