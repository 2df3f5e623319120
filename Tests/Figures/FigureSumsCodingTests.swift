import Features
import Proofs
import TestSupport
import Testing

/// The encoding of a user's contribution to the sums.
@Suite struct FigureSumsCodingTests {
    private func key(_ day: Int64, _ metric: FigureMetric = .units, product: String = "p") -> FigureKey {
        FigureKey(
            day: CalendarDay(daysSince1970: day), metric: metric,
            subject: FigureSubject(app: day, origin: .xcode, product: product, storefront: nil))
    }

    @Test func `sums are read as they were written`() throws {
        let dice = Dice(seed: 3)
        for _ in 0..<200 {
            var sums = FigureSums()
            for _ in 0..<dice.number(below: 20) {
                let key = key(
                    Int64(dice.number(below: 3000)) - 1500, try #require(dice.pick(FigureMetric.allCases)),
                    product: try #require(dice.pick(["a", "bé", ""])))
                sums.add(Int64(dice.number(below: 1000)) - 500, to: key)
            }
            #expect(try FigureSumsCoding.decode(FigureSumsCoding.encode(sums)) == sums)
        }
    }

    @Test(arguments: [Int64.min, .max, -1, 63, 64]) func `numbers of any size are stored`(number: Int64) throws {
        var sums = FigureSums()
        sums.add(number, to: key(number))
        #expect(try FigureSumsCoding.decode(FigureSumsCoding.encode(sums)) == sums)
    }

    @Test func `damaged bytes cause no crash`() throws {
        var sums = FigureSums()
        for day in 0..<20 { sums.add(7, to: key(Int64(day))) }
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
