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
}
