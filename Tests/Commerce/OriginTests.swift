import Foundation
import Proofs
import Testing

@Suite struct OriginTests {
    @Test func `an origin is its text, also of another store`() throws {
        for text in Origin.allCases.map(\.rawValue) + [
            "acme/Production", "acme/Sandbox", "a/Test", "galaxy/Test", "zzzzzz/Test",
        ] {
            let origin = try #require(Origin(rawValue: text), "\(text)")
            #expect(origin.rawValue == text)
            #expect(Origin(rawValue: text) == origin && !(Origin(rawValue: text) != origin))
            let json = try JSONEncoder().encode([origin])
            #expect(String(decoding: json, as: UTF8.self).replacing("\\", with: "") == "[\"\(text)\"]")
            #expect(try JSONDecoder().decode([Origin].self, from: json) == [origin])
        }
        let texts = ["acme/Production", "acme/Test", "acma/Test", "apple/Production"]
        #expect(Set(texts.compactMap(Origin.init(rawValue:))).count == texts.count)
    }

    @Test(arguments: [
        "", "/", "acme", "acme/", "/Production", "acme/production", "acme/Production/", "acme/Xcode", "Acme/Test",
        "1/Test", "ac me/Test", "ac_me/Test", "galaxys/Test", "acMe/Test", "acme1/Test", "apple/Test", "google/Sandbox",
        "xcode/Production",
        "local/Test", "localPlay/Sandbox", "user/Production", "till/Test", "apple/Production\u{0}", "acmé/Test",
        "acme'/Test",
    ])
    func `another text is no origin`(text: String) {
        #expect(Origin(rawValue: text) == nil)
    }

    @Test func `a person names a listed origin alone`() {
        #expect(Origin(listed: "apple/Sandbox") == .appleSandbox)
        for text in ["acme/Production", "acme/Test", "apple", ""] { #expect(Origin(listed: text) == nil, "\(text)") }
        #expect(PurchaseStore(listed: "play_store") == .playStore)
        #expect(PurchaseStore(listed: "acme") == nil)
    }

    @Test func `the first half of an origin names the store, the second its tests`() throws {
        for origin in Origin.allCases {
            let isOfGoogle = origin.rawValue.hasPrefix("google/") || origin.rawValue.hasPrefix("localPlay/")
            #expect(origin.store == (isOfGoogle ? .playStore : .appStore))
            #expect(origin.isSandbox == !origin.rawValue.hasSuffix("/Production"))
            #expect(origin.isLocal != ["apple/", "google/"].contains { origin.rawValue.hasPrefix($0) })
            #expect(origin.isSold == [.appleProduction, .googleProduction].contains(origin))
        }
        let (sold, test) = (
            try #require(Origin(rawValue: "acme/Production")), try #require(Origin(rawValue: "acme/Test"))
        )
        #expect(sold.store == test.store && sold.store == PurchaseStore(rawValue: "acme"))
        #expect(sold.store.rawValue == "acme" && sold.store.name == "acme" && sold.store.company == "acme")
        #expect(!sold.isSandbox && sold.isSold && test.isSandbox && !test.isSold)
        for store in PurchaseStore.allCases { #expect(PurchaseStore(rawValue: store.rawValue) == store) }
        for store in PurchaseStore.allCases + [sold.store] { #expect(PurchaseStore(name: store.name) == store) }
        for name in ["app_store", "The App Store", ""] { #expect(PurchaseStore(name: name) == nil, "\(name)") }
        for word in ["apple", "local", "xcode", "google", "localPlay", "App_Store", ""] {
            #expect(PurchaseStore(rawValue: word) == nil, "\(word)")
        }
    }

    @Test func `a store's production is accepted beside no origin whose purchases cost nothing`() {
        let production = Set(
            ["apple/Production", "google/Production", "acme/Production"].compactMap(Origin.init(rawValue:)))
        #expect(production.freeBesideProduction == nil)
        for origin in Origin.allCases where !production.contains(origin) {
            #expect(Set([origin]).freeBesideProduction == nil)
            for sold in production {
                let found = Set([origin, sold]).freeBesideProduction
                #expect(found?.production == sold && found?.free == origin, "\(origin) beside \(sold)")
            }
        }
        #expect(Origin.defaultAccepted.freeBesideProduction == nil)
    }

    @Test(arguments: Realm.allCases, AppStoreEnvironment.allCases)
    func `a realm signs only for its own environments`(realm: Realm, environment: AppStoreEnvironment) {
        let expected: Origin? =
            switch (realm, environment) {
            case (.apple, .production): .appleProduction
            case (.apple, .sandbox): .appleSandbox
            case (.xcode, .xcode): .xcode
            case (.local, .production): .localProduction
            case (.local, .sandbox): .localSandbox
            case (.google, .production): .googleProduction
            case (.google, .sandbox): .googleTest
            case (.localPlay, .production): .localPlayProduction
            case (.localPlay, .sandbox): .localPlayTest
            default: nil
            }
        #expect(Origin(realm: realm, environment: environment) == expected)
    }
}
