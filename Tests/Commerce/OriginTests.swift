import Proofs
import Testing

@Suite struct OriginTests {
    @Test func `a store's production is accepted beside no origin whose purchases cost nothing`() {
        let production: Set<Origin> = [.appleProduction, .googleProduction]
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
