import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// Verification, password reset and change of address, over a socket.
@Suite struct AccountMailRoutesTests {
    let fixture: ServiceFixture
    private let queue: MailQueue

    init() async throws {
        fixture = try await ServiceFixture()
        queue =
            AccountService(ledger: fixture.ledger, clock: fixture.shop.clock, cost: .minimal).mails
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ fields: [String: String]? = nil,
        token: String = "",
        language: String? = nil
    ) async throws -> ServiceFixture.Answer {
        let body = try fields.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        var headers: HTTPFields = [:]
        headers[.acceptLanguage] = language
        return try await fixture.send(method, path, body: body, key: token, headers: headers, over: .live)
    }

    private func signUp(_ email: String = "mint@example.com") async throws -> EntranceResource {
        try await send(.post, "/v1/accounts", ["email": email, "password": "correct horse"]).decoded()
    }

    /// Takes the due mails, as if they were sent.
    private func mails() async throws -> [LeasedMail] {
        let taken = try await queue.lease(upTo: 100)
        try await queue.record(taken.map { queue.result(of: $0.mail, .sent) })
        return taken
    }

    private func confirm(_ token: String) async throws -> ServiceFixture.Answer {
        try await send(.post, "/v1/accounts/confirmation", ["token": token])
    }

    private func account(_ entrance: EntranceResource) async throws -> AccountResource {
        try await send(.get, "/v1/me/account", token: entrance.tokens.accessToken).decoded()
    }

    @Test func `an address is verified once`() async throws {
        let entrance = try await signUp()
        #expect(entrance.account.emailVerifiedAt == nil)
        let mail = try #require(try await mails().first)
        let answer = try await confirm(mail.token.text)
        #expect(answer.status == 200)
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(try answer.decoded(ConfirmationResource.self).outcome == .verified)
        #expect(try await account(entrance).emailVerifiedAt == "2026-09-21T14:13:20Z")
        let again = try await confirm(mail.token.text)
        #expect(again.status == 422)
        #expect(again.code == "linkInvalid")
        let token = entrance.tokens.accessToken
        let verified = try await send(.post, "/v1/me/account/verification", token: token)
        #expect(verified.status == 409)
        #expect(verified.code == "emailVerified")
    }

    @Test(arguments: [("ko-KR,ko;q=0.9,en;q=0.8", "ko"), ("fr", "en"), (nil, "en"), ("en;q=0.1, ko", "ko")])
    func `a mail is in the language of the request`(header: String?, language: String) async throws {
        let fields = ["email": "mint@example.com", "password": "correct horse"]
        let entrance: EntranceResource = try await send(.post, "/v1/accounts", fields, language: header).decoded()
        #expect(try await mails().map(\.mail.language) == [language])
        let token = entrance.tokens.accessToken
        let asked = try await send(.post, "/v1/me/account/verification", token: token, language: header)
        #expect(asked.status == 202)
        #expect(try await mails().map(\.mail.language) == [language])
        _ = try await send(.post, "/v1/accounts/recovery", ["email": "mint@example.com"], language: header)
        #expect(try await mails().map(\.mail.language) == [language])
    }

    @Test func `verifications can be asked for five times in an hour`() async throws {
        let token = try await signUp().tokens.accessToken
        for _ in 0..<4 { #expect(try await send(.post, "/v1/me/account/verification", token: token).status == 202) }
        let tooMany = try await send(.post, "/v1/me/account/verification", token: token)
        #expect(tooMany.status == 429)
        #expect(tooMany.code == "mailTooOften")
        #expect(tooMany.headers[.retryAfter] == "3600")
        #expect(try await mails().count == 5)
        #expect(try await send(.post, "/v1/me/account/verification").code == "unauthenticated")
        let backEnd = try await send(.post, "/v1/me/account/verification", token: fixture.key)
        #expect(backEnd.code == "tokenRequired")
    }

    @Test func `a forgotten password is replaced by the link, and every device is logged out`() async throws {
        let entrance = try await signUp()
        _ = try await mails()
        let asked = try await send(.post, "/v1/accounts/recovery", ["email": "MINT@example.com"])
        #expect(asked.status == 202)
        let mail = try #require(try await mails().first)
        let token = mail.token.text
        #expect(mail.mail.purpose == .reset)
        func reset(_ password: String) async throws -> ServiceFixture.Answer {
            try await send(.post, "/v1/accounts/password", ["token": token, "password": password])
        }
        // A refused password leaves the link valid.
        #expect(try await reset("short").code == "passwordTooShort")
        #expect(try await reset("mint@example.com").code == "passwordLikeEmail")
        #expect(try await confirm(token).code == "linkInvalid")
        #expect(try await reset("another password").status == 204)
        #expect(try await reset("another password").code == "linkInvalid")
        #expect(try await send(.get, "/v1/me/items", token: entrance.tokens.accessToken).code == "tokenInvalid")
        let renewal = try await send(
            .post, "/v1/sessions/renewal", ["refreshToken": entrance.tokens.refreshToken])
        #expect(renewal.code == "refreshTokenInvalid")
        func logIn(_ password: String) async throws -> ServiceFixture.Answer {
            try await send(.post, "/v1/sessions", ["email": "mint@example.com", "password": password])
        }
        #expect(try await logIn("correct horse").code == "credentialsWrong")
        let second: EntranceResource = try await logIn("another password").decoded()
        #expect(second.account.accountId == entrance.account.accountId)
        #expect(second.account.emailVerifiedAt != nil)
    }

    @Test func `a link for a password expires after an hour`() async throws {
        _ = try await signUp()
        _ = try await send(.post, "/v1/accounts/recovery", ["email": "mint@example.com"])
        let mails = try await mails()
        let token = try #require(mails.first { $0.mail.purpose == .reset }).token.text
        fixture.shop.clock.advance(milliseconds: 3_600_000)
        let answer = try await send(
            .post, "/v1/accounts/password", ["token": token, "password": "another password"])
        #expect(answer.status == 422)
        #expect(answer.code == "linkExpired")
    }

    @Test func `the answer does not reveal an account or the mail limit`() async throws {
        _ = try await signUp()
        var answers: [ServiceFixture.Answer] = []
        for email in ["mint@example.com", "nobody@example.com"] {
            for _ in 0..<6 { answers.append(try await send(.post, "/v1/accounts/recovery", ["email": email])) }
        }
        #expect(Set(answers.map(\.status)) == [202])
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(Set(answers.map { $0.headers.map(\.name.canonicalName).sorted() }).count == 1)
        let mails = try await mails()
        #expect(mails.map(\.mail.purpose.rawValue).sorted() == Array(repeating: "reset", count: 5) + ["verification"])
        #expect(mails.allSatisfy { $0.mail.email == "mint@example.com" })
        #expect(try await send(.post, "/v1/accounts/recovery", ["email": "nobody"]).code == "emailInvalid")
    }

    @Test func `the mails that one client requests are limited`() async throws {
        for number in 0..<30 {
            let asked = try await send(.post, "/v1/accounts/recovery", ["email": "\(number)@example.com"])
            #expect(asked.status == 202)
        }
        let tooMany = try await send(.post, "/v1/accounts/recovery", ["email": "30@example.com"])
        #expect(tooMany.status == 429)
        #expect(tooMany.code == "tooManyAttempts")
    }

    @Test func `an address changes when both have confirmed`() async throws {
        let entrance = try await signUp("old@example.com")
        for mail in try await mails() { _ = try await confirm(mail.token.text) }
        let token = entrance.tokens.accessToken
        func change(_ email: String, _ password: String = "correct horse") async throws -> ServiceFixture.Answer {
            try await send(.put, "/v1/me/account/email", ["email": email, "password": password], token: token)
        }
        #expect(try await change("new@example.com", "wrong").code == "passwordWrong")
        #expect(try await change("new").code == "emailInvalid")
        #expect(try await change("old@example.com").code == "emailUnchanged")
        #expect(try await mails().isEmpty)
        #expect(try await change("new@example.com").status == 202)
        let mails = try await mails()
        let old = try #require(mails.first { $0.mail.email == "old@example.com" })
        let new = try #require(mails.first { $0.mail.email == "new@example.com" })
        #expect(try await confirm(old.token.text).decoded(ConfirmationResource.self).outcome == .waitsForOther)
        #expect(try await account(entrance).email == "old@example.com")
        #expect(try await confirm(new.token.text).decoded(ConfirmationResource.self).outcome == .changed)
        #expect(try await account(entrance).email == "new@example.com")
        let login = try await send(
            .post, "/v1/sessions", ["email": "old@example.com", "password": "correct horse"])
        #expect(login.code == "credentialsWrong")
    }

    @Test func `an address that another account verifies meanwhile is taken`() async throws {
        let entrance = try await signUp("old@example.com")
        _ = try await mails()
        let token = entrance.tokens.accessToken
        let asked = try await send(
            .put, "/v1/me/account/email", ["email": "new@example.com", "password": "correct horse"], token: token)
        #expect(asked.status == 202)
        let change = try #require(try await mails().first)
        _ = try await signUp("new@example.com")
        for mail in try await mails() { _ = try await confirm(mail.token.text) }
        let taken = try await confirm(change.token.text)
        #expect(taken.status == 409)
        #expect(taken.code == "emailTaken")
    }

    @Test func `the owner of an address releases it, and signs up`() async throws {
        let squatter = try await signUp()
        let token = try #require(try await mails().first).token.text
        let taken = try await send(
            .post, "/v1/accounts", ["email": "mint@example.com", "password": "correct horse"])
        #expect(taken.code == "emailTaken")
        #expect(try await send(.post, "/v1/accounts/release", ["token": token]).status == 204)
        #expect(try await send(.post, "/v1/accounts/release", ["token": token]).code == "linkInvalid")
        #expect(try await account(squatter).email == nil)
        let owner = try await signUp()
        #expect(owner.account.accountId != squatter.account.accountId)
        // The account without an address chooses a password and another address.
        let own = squatter.tokens.accessToken
        let changed = try await send(
            .put, "/v1/me/account/password", ["password": "correct horse", "newPassword": "another password"],
            token: own)
        #expect(changed.status == 204)
        _ = try await mails()
        let asked = try await send(
            .put, "/v1/me/account/email", ["email": "own@example.com", "password": "another password"], token: own)
        #expect(asked.status == 202)
        for mail in try await mails() { _ = try await confirm(mail.token.text) }
        #expect(try await account(squatter).email == "own@example.com")
    }

    @Test(arguments: ["{}", #"{"token":1}"#, "[]", "", #"{"token":"x","more":"y"}"#])
    func `a malformed body is refused`(body: String) async throws {
        for path in ["confirmation", "release", "password", "recovery"] {
            let answer = try await fixture.send(.post, "/v1/accounts/\(path)", body: body, key: "", over: .live)
            #expect(answer.status == 400)
            #expect(answer.code == "bodyInvalid")
        }
    }
}
