import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import TestSupport
import Testing
import Vocabulary

/// A console whose fields strangers and the team have filled with hostile texts, each through the form or the use case that
/// takes it.
struct HostileConsole {
    static let sprout = "com.memolease.sesac1.sprout"

    let fixture: ConsoleFixture
    let browser: Browser
    var texts: HostileTexts
    /// The numbers of the texts that a page has to show.
    var shown: [Int] = []
    /// The pages to read first.
    var paths = [
        "", "/account", "/app-store", "/app-store/consumption", "/app-store/external-purchases",
        "/app-store/external-transactions", "/app-store/reconciliation", "/catalog-history",
        "/customers", "/figures", "/figures/transactions?environment=sandbox&group=product",
        "/health", "/health/team", "/log-in", "/new-product", "/products", "/proofs", "/refusals",
        "/store", "/store/buy", "/store/clock", "/store/notifications", "/store?state=queue",
        "/store/settings", "/team", "/unclaimed", "/webhooks",
    ].map { "/console" + $0 }
    /// The pages that answered forms. A refusal may quote only the beginning of a text.
    var answers: [(path: String, page: Browser.Page, isRefusal: Bool)] = []

    /// A console with an administrator of a hostile name.
    init(seed: UInt64) async throws {
        fixture = try await ConsoleFixture(keepsProofs: true)
        texts = HostileTexts(seed: seed)
        let name = texts.next("name of the administrator", .sentence, .bytes(TeamMember.maximumNameLength))
        shown.append(0)
        browser = try await fixture.browser(.admin, name: name.text)
    }

    /// Fills all fields.
    mutating func fill() async throws {
        try await fillProducts()
        try await fillWebhooks()
        let key = try await fillTeam()
        let users = [try await fillCustomer("1", key), try await fillCustomer("2", key)]
        try await fillLedger(users[0], users[1])
        try await fillProofs()
        try await fillSearches()
        try await fillRefusedForms(users[0])
        try await fillStore()
    }

    /// A text that a page has to show.
    mutating func shownText(
        _ field: String, _ characters: HostileTexts.Characters, _ limit: HostileTexts.Limit,
        startingWith start: String = ""
    ) -> String {
        shown.append(texts.all.count)
        return texts.next(field, characters, limit, startingWith: start).text
    }

    /// Sends a form, and keeps the page that answers it.
    ///
    /// - Parameter isRefused: True if the form is wrong, also where the answer is a preview.
    @discardableResult
    mutating func send(
        _ path: String, _ fields: [String: String], from page: String, expecting status: Int = 303,
        isRefused: Bool = false
    ) async throws -> Browser.Page {
        let answer = try await browser.post(path, fields, from: page)
        try #require(
            answer.status == status,
            "\(path.prefix(80)): \(answer.status), \(answer.words.suffix(300).debugDescription)")
        if status != 303 { answers.append((path, answer, isRefused || status >= 400)) }
        return answer
    }

    private mutating func fillWebhooks() async throws {
        let page = "/console/webhooks"
        let (start, limit) = ("https://hooks.example.com/", HostileTexts.Limit.bytes(2048))
        let added = try await send(
            page,
            [
                "url": texts.next("former address", .address, limit, startingWith: start).text, "format": "standard",
                "authorization": shownText("authorization", .header, .bytes(1024)),
            ], from: page)
        let secret = String(try #require(added.location).prefix { $0 != "?" })
        let endpoint = String(secret.dropLast("/secret".count))
        try await send(
            endpoint + "/address",
            ["url": shownText("address of a webhook", .address, limit, startingWith: start)], from: endpoint)
        paths += [secret, endpoint]
    }

    /// - Returns: The identifier of an API key.
    private mutating func fillTeam() async throws -> String {
        let page = "/console/team"
        let limit = HostileTexts.Limit.bytes(TeamMember.maximumNameLength)
        try await send(
            page + "/members", ["name": shownText("name of a member", .sentence, limit), "role": "viewer"], from: page,
            expecting: 200)
        let name = shownText("name of an API key", .sentence, .bytes(APIKeys.maximumNameLength))
        return try await fixture.keys.make(name: name, scopes: [.read]).record.identifier
    }

    /// Buys a product for a customer, and does everything that the team can do.
    private mutating func fillCustomer(_ number: String, _ key: String) async throws -> User {
        let name = shownText("name of a customer", .name, .bytes(User.maximumLength))
        let user = try #require(User(name: name))
        try #require(user.name.utf8.elementsEqual(name.utf8))
        let account = shownText("account", .line, .bytes(256))
        let bought = try await send(
            "/console/store/buy",
            [
                "account": account, "product": Self.sprout + number, "user": name, "then": "redeem",
                "outcome": "purchased", "quantity": "1", "offer": "", "token": "",
            ], from: "/console/store/buy")
        let payment = try #require(bought.location)
        try #require(!payment.contains("refused"))
        let page = "/console/customers/-/" + HostileText.encode(name)
        try await fillGrants(page, user, key)
        let customer = try await browser.get(page)
        let link = try #require(customer.text.firstMatch(of: /href="([^"]+\/transactions\/[^"\/]+)"/)?.1)
        let transaction = String(link.replacing("&amp;", with: "&"))
        let parts = transaction.split(separator: "?")
        for action in ["revocation", "reinstatement"] {
            let reason = shownText("reason of a \(action)", .sentence, .scalars(500))
            try await send("\(parts[0])/\(action)?\(parts.last ?? "")", ["reason": reason], from: page)
        }
        let accounts = ["", "/buy"].map { "/console/store\($0)?account=" + HostileText.encode(account) }
        paths += [page, page + "/timeline", page + "/grants", page + "/transactions", transaction, payment] + accounts
        paths.append("\(parts[0])/money-back?\(parts.last ?? "")")
        paths.append(page + "/explanation?item=" + HostileText.encode("sprout \(number)"))
        return user
    }

    private mutating func fillGrants(_ page: String, _ user: User, _ key: String) async throws {
        let before = try await browser.get(page)
        let give = try #require(before.value(of: "submission", inFormTo: page + "/grants"))
        let add = try #require(before.value(of: "submission", inFormTo: page + "/balances"))
        let reason = HostileTexts.Limit.scalars(500)
        try await send(
            page + "/grants",
            [
                "submission": give, "give-item": "sprout 3",
                "give-reason": shownText("reason of a grant", .sentence, reason),
            ], from: page)
        try await send(
            page + "/balances",
            [
                "submission": add, "balance": "seeds", "amount": "7",
                "balance-reason": shownText("reason of an addition", .sentence, reason),
            ], from: page)
        let form = try #require(
            try await browser.get(page).text.firstMatch(of: /action="([^"]+\/grants\/([^"\/]+)\/revocation)"/))
        try await send(
            String(form.1), ["reason-\(form.2)": shownText("reason of a grant's revocation", .sentence, reason)],
            from: page)
        let grant = try fixture.entitlements.newGrant(
            of: Item(collection: "sprout", number: 4),
            reason: shownText("reason of an API key's grant", .sentence, reason), endsAt: nil, by: key)
        _ = try await fixture.entitlements.give(grant, to: user)
        _ = try await fixture.entitlements.profiles.change(
            .set(shownText("nickname", .line, .bytes(64))), chosen: [], of: user)
    }

    private mutating func fillSearches() async throws {
        let limit = HostileTexts.Limit.bytes(256)
        for path in [
            "customers?search", "products?text", "unclaimed?transaction", "store?account", "store/buy?account",
            "store?product", "store?state=queue&account", "figures/transactions?product", "unclaimed?product",
        ] {
            paths.append("/console/\(path)=" + HostileText.encode(shownText("search at \(path)", .line, limit)))
        }
        paths.append("/console/refusals/" + HostileText.encode(shownText("code of a refusal", .line, limit)))
        for path in [
            "health/team?member=", "products/", "figures/", "store?transaction=", "customers?product=",
            "app-store?type=", "log-in?next=%2Fconsole%2F", "account?done=", "webhooks/", "unclaimed/",
        ] {
            paths.append("/console/\(path)" + texts.next("parameter of \(path)", .line, limit).encoded)
        }
        let name = texts.next("unknown customer", .name, .bytes(User.maximumLength))
        paths.append("/console/customers/-/" + name.encoded)
    }

    private mutating func fillStore() async throws {
        let page = "/console/store/settings"
        try await send(
            page,
            [
                "storefront": "KOR", "locale": shownText("locale of the store", .line, .bytes(32)),
                "time-rate": "monthlyRenewalEveryHour", "failure-error": "", "notifications-url": "",
                "shared-secret": shownText("shared secret", .line, .bytes(256)), "receipt-status": "",
                "requests-per-minute": "",
            ], from: page)
    }
}
