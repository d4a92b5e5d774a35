module github.com/halfulp/halfulp/internal/_compact

go 1.26.8
