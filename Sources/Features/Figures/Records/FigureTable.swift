import Proofs

/// Sums by series, metric and time, in one array: an answer has up to 50,000 points.
struct FigureTable {
    /// The subject of a series of sums.
    struct Series: Hashable {
        let group: ByteKey
        let currency: ByteKey
    }

    let metrics: [FigureMetric]
    /// The number of times.
    let times: Int
    /// The largest number of series.
    private let maximumSeries: Int
    /// In the order in which they were met.
    private(set) var series: [Series] = []
    private var numbers: [Series: Int] = [:]
    /// The amounts of each series, of each metric, of each time.
    private var amounts: [Int64] = []

    init(_ metrics: Set<FigureMetric>, times: Int, maximumPoints: Int) {
        self.metrics = metrics.sorted { $0.rawValue < $1.rawValue }
        self.times = times
        maximumSeries = maximumPoints / max(1, times)
    }

    /// The number of a series, which gets one at first sight.
    ///
    /// - Throws: `FigureError.tooManyPoints`.
    mutating func number(of series: Series) throws(FigureError) -> Int {
        if let number = numbers[series] { return number }
        guard self.series.count < maximumSeries else { throw .tooManyPoints }
        numbers[series] = self.series.count
        self.series.append(series)
        amounts += repeatElement(0, count: metrics.count * times)
        return self.series.count - 1
    }

    /// - Parameters:
    ///   - series: The number of the series.
    ///   - metric: The place of the metric among the metrics.
    mutating func add(_ amount: Int64, series: Int, metric: Int, time: Int) {
        amounts[(series * metrics.count + metric) * times + time] &+= amount
    }

    /// The amounts of a series at each time: the sum of some metrics, less others.
    func values(of sum: FigureFormula.Sum, series: Int) -> [Int64] {
        var values = [Int64](repeating: 0, count: times)
        func add(_ metric: FigureMetric, _ sign: Int64) {
            guard let place = metrics.firstIndex(of: metric) else { return }
            let start = (series * metrics.count + place) * times
            for time in 0..<times { values[time] &+= sign &* amounts[start + time] }
        }
        for metric in sum.added { add(metric, 1) }
        for metric in sum.subtracted { add(metric, -1) }
        return values
    }
}
