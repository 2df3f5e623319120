import AppStore
import Entitlements
import Features
import Proofs

/// The values of a figure for each day, by products and currencies.
struct BookAnswer {
    enum Part: Hashable {
        case values
        /// Of a rate.
        case denominators
        /// Of a movement, by its name.
        case part(String)
    }

    struct Series: Hashable {
        let part: Part
        /// Empty in an answer that is not grouped by app.
        let app: String
        /// Empty in an answer that is not grouped by product.
        let product: String
        /// Empty for a count.
        let currency: String
    }

    private let days: [CalendarDay]
    private(set) var series: [Series: [Int64]] = [:]

    init(days: [CalendarDay]) {
        self.days = days
    }

    /// The figures of the service.
    init(_ answer: FigureAnswer, days: [CalendarDay]) {
        self.days = days
        for told in answer.series {
            func add(_ amount: Int64, to part: Part, _ day: CalendarDay) {
                let group = told.group ?? ""
                let series = Series(
                    part: part, app: answer.query.group == .app ? group : "",
                    product: answer.query.group == .product ? group : "", currency: told.currency ?? "")
                self.add(amount, to: series, day)
            }
            for (day, point) in zip(days, told.points) {
                add(point.value, to: .values, day)
                if let denominator = point.denominator { add(denominator, to: .denominators, day) }
                for part in point.parts { add(part.value, to: .part(part.name), day) }
            }
        }
    }

    mutating func add(_ amount: Int64, to part: Part, _ sale: SimulatedSale, _ day: CalendarDay?) {
        add(amount, to: part, sale, currency: "", day)
    }

    mutating func addMoney(_ amount: Int64, to part: Part, _ sale: SimulatedSale, _ day: CalendarDay?) {
        add(amount, to: part, sale, currency: sale.price.currency, day)
    }

    private mutating func add(
        _ amount: Int64,
        to part: Part,
        _ sale: SimulatedSale,
        currency: String,
        _ day: CalendarDay?
    ) {
        let series = Series(
            part: part, app: sale.app.bundleIdentifier, product: sale.productIdentifier, currency: currency)
        add(amount, to: series, day)
    }

    private mutating func add(_ amount: Int64, to series: Series, _ day: CalendarDay?) {
        guard amount != 0, let day else { return }
        let index = Int(day.daysSince1970 - days[0].daysSince1970)
        self.series[series, default: Array(repeating: 0, count: days.count)][index] += amount
    }

    /// The part of a query's app, in the groups of the query.
    func answer(to query: FigureQuery) -> BookAnswer {
        var answer = BookAnswer(days: days)
        for (series, values) in series where query.app ?? series.app == series.app {
            let group = Series(
                part: series.part, app: query.group == .app ? series.app : "",
                product: query.group == .product ? series.product : "", currency: series.currency)
            for (day, value) in zip(days, values) { answer.add(value, to: group, day) }
        }
        return answer
    }

    /// The first difference to another answer, in words; nil without one. A series of zeros is none.
    func difference(to other: BookAnswer) -> String? {
        for key in Set(series.keys).union(other.series.keys) {
            let (own, others) = (series[key] ?? [], other.series[key] ?? [])
            guard own != others else { continue }
            for (index, day) in days.enumerated() {
                let (left, right) = (own.isEmpty ? 0 : own[index], others.isEmpty ? 0 : others[index])
                if left != right {
                    return "\(key.part) of \(key.app) \(key.product) \(key.currency) on \(day): \(left), not \(right)"
                }
            }
        }
        return nil
    }
}
