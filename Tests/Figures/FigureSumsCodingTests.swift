import Entitlements
import Features
import Proofs
import TestSupport
import Testing

/// The encoding of a user's contribution to the sums.
@Suite struct FigureSumsCodingTests {
    private func add(
        _ amount: Int64,
        _ metric: FigureMetric = .units,
        of product: String = "p",
        on day: Int64,
        to sums: inout FigureSums
    ) {
        sums.add(
            amount, metric, of: FigureSubject(app: day, origin: .xcode, product: product, storefront: nil),
            on: CalendarDay(daysSince1970: day))
    }

    @Test func `sums are read as they were written`() throws {
        let dice = Dice(seed: 3)
        for _ in 0..<200 {
            var sums = FigureSums()
            for _ in 0..<dice.number(below: 20) {
                let day = Int64(dice.number(below: 3000)) - 1500
                let metric = try #require(dice.pick(FigureMetric.allCases))
                let product = try #require(dice.pick(["a", "bé", ""]))
                add(Int64(dice.number(below: 1000)) - 500, metric, of: product, on: day, to: &sums)
            }
            #expect(try FigureSumsCoding.decode(FigureSumsCoding.encode(sums)) == sums)
        }
    }

    @Test(arguments: [Int64.min, .max, -1, 63, 64]) func `numbers of any size are stored`(number: Int64) throws {
        var sums = FigureSums()
        add(number, on: number, to: &sums)
        #expect(try FigureSumsCoding.decode(FigureSumsCoding.encode(sums)) == sums)
    }

    @Test func `damaged bytes cause no crash`() throws {
        var sums = FigureSums()
        for day in 0..<20 { add(7, on: Int64(day), to: &sums) }
        let bytes = FigureSumsCoding.encode(sums)
        for count in 0..<bytes.count {
            #expect((try? FigureSumsCoding.decode(Array(bytes.prefix(count)))) != sums)
        }
        let dice = Dice(seed: 5)
        for _ in 0..<1000 {
            var changed = bytes
            changed[dice.number(below: bytes.count)] = UInt8(dice.number(below: 256))
            _ = try? FigureSumsCoding.decode(changed)
        }
    }
}
