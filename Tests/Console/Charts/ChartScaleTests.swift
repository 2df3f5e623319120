import Console
import Testing

/// The vertical scale of charts.
@Suite struct ChartScaleTests {
    /// The values of a chart, the smallest step, and the ticks.
    private static let scales: [(values: [Double], step: Double, ticks: [Double])] = [
        ([3, 7], 1, [0, 2, 4, 6, 8]), ([0, 0], 1, [0, 1]), ([], 1, [0, 1]), ([1], 1, [0, 1]),
        ([100], 1, [0, 50, 100]), ([-30, 50], 1, [-40, -20, 0, 20, 40, 60]), ([-5], 1, [-6, -4, -2, 0]),
        ([999], 1, [0, 500, 1000]), ([0.5, 2.5], 0.1, [0, 1, 2, 3]),
        ([4990], 10, [0, 2000, 4000, 6000]), ([1, 2, 3], 10, [0, 10]),
    ]

    @Test(arguments: scales)
    func `ticks are round numbers that include zero and every value`(
        values: [Double], step: Double, ticks: [Double]
    ) {
        #expect(ChartScale(covering: values, minimumStep: step).ticks == ticks)
    }

    @Test(arguments: [
        [Double(Int64.max), 1], [Double(Int64.min), Double(Int64.max)], [1e-9], [.infinity, 5], [.nan], [-0.0],
    ])
    func `any values have a few ascending ticks`(values: [Double]) {
        let scale = ChartScale(covering: values, minimumStep: 1)
        #expect((2...12).contains(scale.ticks.count))
        #expect(zip(scale.ticks, scale.ticks.dropFirst()).allSatisfy { $0 < $1 })
        for value in values where value.isFinite {
            #expect((scale.ticks.first ?? 1) <= value && value <= (scale.ticks.last ?? -1))
            #expect((0...1).contains(scale.fraction(of: value)))
        }
    }

    @Test func `a value has its place between the lowest and the highest tick`() {
        let scale = ChartScale(covering: [-50, 100], minimumStep: 1)
        #expect(scale.ticks == [-50, 0, 50, 100])
        #expect(scale.fraction(of: -50) == 0)
        #expect(scale.fraction(of: 25) == 0.5)
        #expect(scale.fraction(of: 100) == 1)
    }

    @Test(arguments: [
        (ChartUnit.count, 0, "0"), (.count, 1_500, "1,500"), (.count, 15_000, "15K"), (.count, 1_500_000, "1.5M"),
        (.count, -20_000, "-20K"), (.count, 2e9, "2B"), (.money, 4_990, "4.99"), (.money, 4_900, "4.9"),
        (.money, 50, "0.05"), (.money, 1_200_000, "1,200"), (.money, 12_000_000, "12K"), (.money, -500, "-0.5"),
        (.money, 9.223e18, "9,223T"), (.percent, 12.5, "12.5%"), (.percent, 100, "100%"),
    ])
    func `labels are short`(unit: ChartUnit, value: Double, label: String) {
        #expect(unit.label(value) == label)
    }

    @Test(arguments: [
        (ChartUnit.count, 1_500, "1,500"), (.count, 15_000, "1.5만"), (.money, 1_200_000_000_000, "12억"),
        (.money, -12_000_000, "-1.2만"), (.percent, 12.5, "12.5%"), (.count, 3e12, "3조"),
    ])
    func `labels are short in Korean, too`(unit: ChartUnit, value: Double, label: String) {
        #expect(unit.label(value, in: .korean) == label)
    }
}
