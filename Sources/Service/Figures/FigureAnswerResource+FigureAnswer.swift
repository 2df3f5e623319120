import Features

extension FigureAnswerResource {
    package init(_ answer: FigureAnswer) {
        self.init(
            figure: answer.query.figure.rawValue, environment: answer.query.environment.rawValue,
            by: answer.query.interval.rawValue, group: answer.query.group?.rawValue,
            periods: answer.periods.map { period in
                FigurePeriodResource(
                    from: period.first.description, to: period.last.description, isComplete: period.isComplete)
            },
            series: answer.series.map { FigureSeriesResource($0) }, pendingUsers: answer.pendingUsers,
            isBackfilled: answer.isBackfilled)
    }
}

extension FigureSeriesResource {
    fileprivate init(_ series: FigureAnswer.Series) {
        let denominators = series.points.compactMap(\.denominator)
        var parts: [String: [Int64]] = [:]
        for part in series.points.flatMap(\.parts) { parts[part.name, default: []].append(part.value) }
        self.init(
            group: series.group, currency: series.currency, values: series.points.map(\.value),
            denominators: denominators.isEmpty ? nil : denominators, parts: parts.isEmpty ? nil : parts)
    }
}

extension FigureList {
    /// All figures.
    package static var all: FigureList {
        FigureList(
            figures: Figure.allCases.map { figure in
                FigureResource(
                    figure: figure.rawValue, kind: figure.kind, isMoney: figure.isMoney, definition: figure.definition)
            })
    }
}
